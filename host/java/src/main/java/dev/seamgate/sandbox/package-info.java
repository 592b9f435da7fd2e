/** Instances of the module, in Chicory. Not for callers: it may change in any version. */
@NullMarked
package dev.seamgate.sandbox;

import org.jspecify.annotations.NullMarked;
