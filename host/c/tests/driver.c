/*
 * Calls functions of the C interface as standard input says. A command is a line `NAME LENGTH LENGTH …` and then its arguments, one
 * behind the other. The length `-` stands for a null pointer. The answer is a line `STATUS LENGTH FUEL`, and then the text. There is
 * one gate, one session, one instance and one run of attempts at a time: a new one frees the one before. `cases.py` compares the
 * answers with the expected ones.
 *
 * Each argument is a block of its own, without a NUL byte behind it, so that AddressSanitizer reports each read beyond it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seamgate.h>

enum { MOST = 4 };

/* A command, and what it is about. */
struct driver {
    char name[32];
    char *arguments[MOST];
    size_t lengths[MOST];
    seamgate_gate *gate;
    seamgate_session *session;
    seamgate_instance *instance;
    seamgate_attempts *attempts;
    seamgate_text text;
    seamgate_usage usage;
};

static void fail(const char *what) {
    fprintf(stderr, "driver: %s\n", what);
    exit(2);
}

/* Reads the next command. Returns 0 at the end of the input. */
static int next(struct driver *at) {
    char line[200];
    char *word;
    if (fgets(line, sizeof line, stdin) == NULL) {
        return 0;
    }
    word = strtok(line, " \n");
    if (word == NULL || strlen(word) >= sizeof at->name) {
        fail("a command must begin with its name");
    }
    memcpy(at->name, word, strlen(word) + 1);
    memset(at->arguments, 0, sizeof at->arguments);
    memset(at->lengths, 0, sizeof at->lengths);
    for (int index = 0; (word = strtok(NULL, " \n")) != NULL; index++) {
        if (index == MOST) {
            fail("a command has too many arguments");
        }
        if (strcmp(word, "-") == 0) {
            continue;
        }
        at->lengths[index] = strtoul(word, NULL, 10);
        at->arguments[index] = (char *)malloc(at->lengths[index] > 0 ? at->lengths[index] : 1);
        if (at->arguments[index] == NULL) {
            fail("no memory");
        }
    }
    for (int index = 0; index < MOST; index++) {
        if (fread(at->arguments[index], 1, at->lengths[index], stdin) != at->lengths[index]) {
            fail("the input ends in a command");
        }
    }
    return 1;
}

#define A(index) at->arguments[index], at->lengths[index]
#define IS(word) (strcmp(at->name, (word)) == 0)

static seamgate_status run_gate(struct driver *at) {
    seamgate_text *text = &at->text;
    if (IS("gate_new")) {
        seamgate_gate_free(at->gate);
        return seamgate_gate_new(A(0), A(1), &at->gate, text);
    }
    if (IS("inspect")) return seamgate_inspect(at->gate, text);
    if (IS("register")) return seamgate_register(at->gate, A(0), text);
    if (IS("register_profile")) return seamgate_register_profile(at->gate, A(0), text);
    if (IS("lint")) return seamgate_lint(at->gate, A(0), text);
    if (IS("lint_profile")) return seamgate_lint_profile(at->gate, A(0), text);
    if (IS("describe")) return seamgate_describe(at->gate, A(0), text);
    if (IS("describe_profile")) return seamgate_describe_profile(at->gate, A(0), text);
    if (IS("validate")) return seamgate_validate(at->gate, A(0), A(1), A(2), text, &at->usage);
    if (IS("validate_with")) return seamgate_validate_with(at->gate, A(0), A(1), A(2), text, &at->usage);
    if (IS("merge")) return seamgate_merge(at->gate, A(0), A(1), text, &at->usage);
    if (IS("call")) return seamgate_call(at->gate, A(0), text, &at->usage);
    if (IS("surface")) return seamgate_surface(at->gate, A(0), A(1), A(2), text, &at->usage);
    if (IS("permit")) return seamgate_permit(at->gate, A(0), A(1), A(2), text, &at->usage);
    if (IS("observe")) return seamgate_observe(at->gate, A(0), A(1), A(2), A(3), text, &at->usage);
    if (IS("advance")) return seamgate_advance(at->gate, A(0), A(1), A(2), text, &at->usage);
    if (IS("project")) return seamgate_project(at->gate, A(0), A(1), A(2), text, &at->usage);
    fail("an unknown command");
    return SEAMGATE_STATUS_INTERNAL;
}

static seamgate_status run(struct driver *at) {
    seamgate_text *text = &at->text;
    if (IS("session_new")) {
        seamgate_session_free(at->session);
        return seamgate_session_new(at->gate, A(0), A(1), &at->session, text);
    }
    if (IS("session_push")) return seamgate_session_push(at->session, A(0), text);
    if (IS("session_finish")) return seamgate_session_finish(at->session, A(0), text, &at->usage);
    if (IS("instance_new")) {
        seamgate_instance_free(at->instance);
        return seamgate_instance_new(at->gate, &at->instance, text);
    }
    if (IS("instance_validate")) return seamgate_instance_validate(at->instance, A(0), A(1), A(2), text, &at->usage);
    if (IS("instance_call")) return seamgate_instance_call(at->instance, A(0), text, &at->usage);
    if (IS("attempts_new")) {
        seamgate_attempts_free(at->attempts);
        return seamgate_attempts_new(at->gate, A(0), A(1), at->lengths[2] > 0, &at->attempts, text);
    }
    if (IS("attempts_next")) return seamgate_attempts_next(at->attempts, text);
    if (IS("attempts_judge")) return seamgate_attempts_judge(at->attempts, A(0), A(1), text, &at->usage);
    if (IS("attempts_report")) return seamgate_attempts_report(at->attempts, text);
    return run_gate(at);
}

int main(void) {
    struct driver driver;
    memset(&driver, 0, sizeof driver);
    while (next(&driver)) {
        memset(&driver.usage, 0, sizeof driver.usage);
        const char *name = seamgate_status_name((int)run(&driver));
        if (driver.text.data != NULL && driver.text.data[driver.text.length] != '\0') {
            fail("no NUL byte follows a text");
        }
        printf("%s %zu %" PRIu64 "\n", name, driver.text.length, driver.usage.fuel);
        if (driver.text.length > 0) {
            fwrite(driver.text.data, 1, driver.text.length, stdout);
        }
        fflush(stdout);
        seamgate_text_free(&driver.text);
        for (int index = 0; index < MOST; index++) {
            free(driver.arguments[index]);
        }
    }
    seamgate_attempts_free(driver.attempts);
    seamgate_instance_free(driver.instance);
    seamgate_session_free(driver.session);
    seamgate_gate_free(driver.gate);
    return 0;
}
