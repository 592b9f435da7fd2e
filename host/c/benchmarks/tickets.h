/* The schema and the documents that both programs judge: lists of tickets, as for Go. */
#ifndef TICKETS_H
#define TICKETS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SCHEMA                                                                                                         \
    "{\"type\":\"object\",\"required\":[\"tickets\"],\"additionalProperties\":false,\"properties\":{\"tickets\":{"     \
    "\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"id\",\"title\",\"severity\",\"tags\"],"         \
    "\"additionalProperties\":false,\"properties\":{\"id\":{\"type\":\"string\",\"pattern\":\"^[A-Z]+-[0-9]+$\"},"     \
    "\"title\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200},\"severity\":{\"enum\":[\"low\",\"medium\","    \
    "\"high\"]},\"score\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1},\"tags\":{\"type\":\"array\",\"items\":{"  \
    "\"type\":\"string\"},\"maxItems\":8}}}}}}"

/* The sizes of the documents in bytes, about. */
static const size_t SIZES[] = {500, 5000, 500000};

/* How many calls of each size make one round. */
static const int CALLS[] = {2000, 500, 10};

/* Returns a valid document of about so many bytes, which the caller frees. */
static char *document(size_t size) {
    static const char *const severities[] = {"low", "medium", "high"};
    char *text = (char *)malloc(size + 400);
    size_t length = 0;
    if (text == NULL) {
        abort();
    }
    length += (size_t)sprintf(text, "{\"tickets\":[");
    for (int index = 0; length < size - 60; index++) {
        length += (size_t)sprintf(text + length,
                                  "%s{\"id\":\"WEB-%d\",\"title\":\"The basket is empty after a reload, %d\",\"severity\":\"%s\","
                                  "\"score\":0.%d,\"tags\":[\"shop\",\"reload\"]}",
                                  index > 0 ? "," : "", index, index * 7919, severities[index % 3], index % 10);
    }
    sprintf(text + length, "]}");
    return text;
}

/* Returns the time in microseconds, from some point. */
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* Prints a figure: what, of which size, and the microseconds of one call. */
static void figure(const char *what, size_t size, double microseconds) {
    printf("%s\t%zu\t%.3f\n", what, size, microseconds);
}

#endif
