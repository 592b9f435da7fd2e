/*
 * One round of calls, on standard output as lines of a name, a size and microseconds. `cargo xtask c bench` takes many rounds. With
 * an argument, it prints only how long the first verdict of the process takes, with the component of that file, or with the
 * built-in one if the argument is empty. A second argument is the options. With `--contract`, it prints the contract.
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>

#include <seamgate.h>

#include "tickets.h"

#define CONTRACT "{\"agent\":\"tickets\",\"schema\":" SCHEMA "}"
#define AGENT "tickets", 7
#define ACCEPTED "{\"disposition\":\"accepted\""

/* Ends the program unless an output was accepted. Frees the text. */
static void accepted(seamgate_status status, seamgate_text *text) {
    if (status != SEAMGATE_STATUS_OK || strncmp(text->data, ACCEPTED, strlen(ACCEPTED)) != 0) {
        fprintf(stderr, "not accepted: %.500s\n", text->data);
        exit(1);
    }
    seamgate_text_free(text);
}

static seamgate_gate *open_gate(const char *component, size_t length, const char *options) {
    seamgate_gate *gate = NULL;
    seamgate_text text;
    if (seamgate_gate_new(options, strlen(options), component, length, &gate, &text) != SEAMGATE_STATUS_OK) {
        fprintf(stderr, "no gate: %s\n", text.data);
        exit(1);
    }
    /* A baked component has the contract inside. */
    if (length == 0 && seamgate_register(gate, CONTRACT, strlen(CONTRACT), &text) != SEAMGATE_STATUS_OK) {
        fprintf(stderr, "no contract: %s\n", text.data);
        exit(1);
    }
    return gate;
}

/* Reads a file whole. The caller frees it. */
static char *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        *length = (size_t)ftell(file);
        rewind(file);
        bytes = (char *)malloc(*length + 1);
    }
    if (bytes == NULL || fread(bytes, 1, *length, file) != *length) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    return bytes;
}

static void first(const char *path, const char *options, double begun) {
    size_t length = 0;
    char *component = *path != '\0' ? read_file(path, &length) : NULL;
    char *text = document(SIZES[0]);
    seamgate_gate *gate = open_gate(component, length, options);
    seamgate_text report;
    accepted(seamgate_validate(gate, AGENT, text, strlen(text), NULL, 0, &report, NULL), &report);
    figure("first", SIZES[0], now() - begun);
    seamgate_gate_free(gate);
    free(text);
    free(component);
}

/* What a thread judges. */
struct work {
    seamgate_gate *gate;
    const char *text;
    int calls;
};

static void *fresh(void *argument) {
    const struct work *work = (const struct work *)argument;
    size_t length = strlen(work->text);
    for (int call = 0; call < work->calls; call++) {
        seamgate_text report;
        accepted(seamgate_validate(work->gate, AGENT, work->text, length, NULL, 0, &report, NULL), &report);
    }
    return NULL;
}

int main(int count, char **given) {
    double begun = now();
    if (count > 1 && strcmp(given[1], "--contract") == 0) {
        puts(CONTRACT);
        return 0;
    }
    if (count > 1) {
        first(given[1], count > 2 ? given[2] : "", begun);
        return 0;
    }
    seamgate_gate *gate = open_gate(NULL, 0, "");
    seamgate_instance *instance = NULL;
    if (seamgate_instance_new(gate, &instance, NULL) != SEAMGATE_STATUS_OK) {
        return 1;
    }
    for (size_t at = 0; at < sizeof SIZES / sizeof *SIZES; at++) {
        char *text = document(SIZES[at]);
        size_t length = strlen(text);
        struct work work = {gate, text, CALLS[at]};
        pthread_t other;
        seamgate_text report;

        /* Not measured: pages are written for the first time. */
        struct work warming = {gate, text, 3};
        fresh(&warming);
        double start = now();
        fresh(&work);
        figure("seamgate, fresh", SIZES[at], (now() - start) / CALLS[at]);

        start = now();
        for (int call = 0; call < CALLS[at]; call++) {
            accepted(seamgate_instance_validate(instance, AGENT, text, length, NULL, 0, &report, NULL), &report);
        }
        figure("seamgate, warm", SIZES[at], (now() - start) / CALLS[at]);

        start = now();
        if (pthread_create(&other, NULL, fresh, &work) != 0) {
            return 1;
        }
        fresh(&work);
        pthread_join(other, NULL);
        figure("seamgate, fresh, two threads", SIZES[at], (now() - start) / (2 * CALLS[at]));
        free(text);
    }
    seamgate_instance_free(instance);
    seamgate_gate_free(gate);
    return 0;
}
