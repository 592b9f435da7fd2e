/*
 * Judges a million outputs on two threads, and fails if the memory of the process grows meanwhile. The argument is how many; the
 * default is 1,000,000.
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seamgate.h>

static const char CONTRACT[] =
    "{\"agent\":\"counter\",\"schema\":{\"type\":\"object\",\"required\":[\"count\"],\"properties\":{\"count\":{\"type\":"
    "\"integer\",\"minimum\":1}}},\"caps\":{\"string_bytes\":1000000}}";

enum { THREADS = 2, TENTHS = 10, LARGE = 300000 };

static seamgate_gate *gate;
static char *large;

/* The calls that one thread makes. */
struct work {
    long from;
    long until;
    int failed;
};

/* Makes one call, by its number. Returns whether it was answered as it must be. */
static int one(long index) {
    char output[64];
    const char *expected = index % 3 == 0 ? "{\"disposition\":\"rejected\"" : "{\"disposition\":\"accepted\"";
    seamgate_text text;
    seamgate_status status;
    int right;
    int length = snprintf(output, sizeof output, "{\"count\":%ld}", index % 3);
    if (index % 1000 == 0) {
        /* The memory of its instance grows. */
        status = seamgate_validate(gate, "counter", 7, large, strlen(large), NULL, 0, &text, NULL);
        expected = "{\"disposition\":\"accepted\"";
    } else if (index % 101 == 0) {
        /* The caller made a mistake. */
        status = seamgate_validate(gate, NULL, 7, output, (size_t)length, NULL, 0, &text, NULL);
        right = status == SEAMGATE_STATUS_BAD_ARGUMENT;
        seamgate_text_free(&text);
        return right;
    } else if (index % 103 == 0) {
        /* It never was valid. */
        status = seamgate_validate_with(gate, "{\"agent\":1}", 11, output, (size_t)length, NULL, 0, &text, NULL);
        right = status == SEAMGATE_STATUS_BAD_CONTRACT;
        seamgate_text_free(&text);
        return right;
    } else if (index % 107 == 0) {
        seamgate_session *session = NULL;
        seamgate_usage usage;
        status = seamgate_session_new(gate, "counter", 7, NULL, 0, &session, &text);
        if (status == SEAMGATE_STATUS_OK) {
            status = seamgate_session_push(session, output, (size_t)length, NULL);
        }
        if (status == SEAMGATE_STATUS_OK) {
            status = seamgate_session_finish(session, "stop", 4, &text, &usage);
        }
        seamgate_session_free(session);
    } else {
        status = seamgate_validate(gate, "counter", 7, output, (size_t)length, NULL, 0, &text, NULL);
    }
    right = status == SEAMGATE_STATUS_OK && strncmp(text.data, expected, strlen(expected)) == 0;
    if (!right) {
        fprintf(stderr, "call %ld: %.300s\n", index, text.data != NULL ? text.data : "no text");
    }
    seamgate_text_free(&text);
    return right;
}

static void *run(void *argument) {
    struct work *work = (struct work *)argument;
    for (long index = work->from; index < work->until && work->failed == 0; index++) {
        work->failed = !one(index);
    }
    return NULL;
}

/* Returns the resident memory of this process in bytes; 0 where the system does not say. */
static long resident(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    long size, pages = 0;
    if (file == NULL || fscanf(file, "%ld %ld", &size, &pages) != 2) {
        pages = 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return pages * sysconf(_SC_PAGESIZE);
}

int main(int count, char **given) {
    long calls = count > 1 ? atol(given[1]) : 1000000, begun = 0, most = 0;
    seamgate_text text;
    large = (char *)malloc(LARGE + 64);
    if (large == NULL || seamgate_gate_new(NULL, 0, NULL, 0, &gate, &text) != SEAMGATE_STATUS_OK ||
        seamgate_register(gate, CONTRACT, strlen(CONTRACT), NULL) != SEAMGATE_STATUS_OK) {
        fputs("no gate\n", stderr);
        return 1;
    }
    sprintf(large, "{\"count\":1,\"pad\":\"%*d\"}", LARGE, 0);
    for (int tenth = 0; tenth < TENTHS; tenth++) {
        pthread_t threads[THREADS];
        struct work works[THREADS];
        long from = calls * tenth / TENTHS, part = (calls * (tenth + 1) / TENTHS - from) / THREADS;
        for (int at = 0; at < THREADS; at++) {
            works[at].from = from + part * at;
            works[at].until = at + 1 == THREADS ? calls * (tenth + 1) / TENTHS : from + part * (at + 1);
            works[at].failed = 0;
            if (pthread_create(&threads[at], NULL, run, &works[at]) != 0) {
                return 1;
            }
        }
        for (int at = 0; at < THREADS; at++) {
            pthread_join(threads[at], NULL);
            if (works[at].failed) {
                return 1;
            }
        }
        long now = resident();
        printf("%9ld calls  %7.1f MiB resident\n", calls * (tenth + 1) / TENTHS, (double)now / (1 << 20));
        fflush(stdout);
        /* In the first tenth, pools and the heap find their size. */
        begun = begun == 0 ? now : begun;
        most = now > most ? now : most;
    }
    seamgate_gate_free(gate);
    free(large);
    if (most > begun + begun / 4) {
        fprintf(stderr, "the memory grew from %ld to %ld bytes\n", begun, most);
        return 1;
    }
    return 0;
}
