/** Verdicts on the output of language models, and decisions about what agents may do. {@link dev.seamgate.Gate} begins. */
@NullMarked
package dev.seamgate;

import org.jspecify.annotations.NullMarked;
