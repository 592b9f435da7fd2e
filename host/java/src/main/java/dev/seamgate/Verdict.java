package dev.seamgate;

/**
 * A report and what it took.
 *
 * @param report the report.
 * @param usage what the call used.
 */
public record Verdict(Report report, Usage usage) {}
