/*
 * Answers each line of standard input, a request, with one line: the answer, a tab, and the fuel that it took. Each request has an
 * instance of its own. `cargo xtask runtimes` compares them with those of other runtimes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <seamgate.h>

/* Reads a line without its end into a buffer that grows. Returns 0 at the end of the input. */
static int read_line(char **line, size_t *room, size_t *length) {
    int byte;
    *length = 0;
    while ((byte = getchar()) != EOF) {
        if (byte == '\n') {
            return 1;
        }
        if (*length == *room) {
            *room = *room > 0 ? 2 * *room : 4096;
            *line = (char *)realloc(*line, *room);
            if (*line == NULL) {
                fputs("answers: no memory\n", stderr);
                exit(1);
            }
        }
        (*line)[(*length)++] = (char)byte;
    }
    return *length > 0;
}

int main(void) {
    seamgate_gate *gate = NULL;
    seamgate_text text = {NULL, 0};
    seamgate_usage usage;
    char *line = NULL;
    size_t room = 0, length = 0;
    seamgate_status status = seamgate_gate_new(NULL, 0, NULL, 0, &gate, &text);
    while (status == SEAMGATE_STATUS_OK && read_line(&line, &room, &length)) {
        status = seamgate_call(gate, line, length, &text, &usage);
        if (status == SEAMGATE_STATUS_OK) {
            fwrite(text.data, 1, text.length, stdout);
            printf("\t%" PRIu64 "\n", usage.fuel);
            seamgate_text_free(&text);
        }
    }
    if (status != SEAMGATE_STATUS_OK) {
        fprintf(stderr, "answers: %s\n", text.data);
    }
    seamgate_text_free(&text);
    seamgate_gate_free(gate);
    free(line);
    return status == SEAMGATE_STATUS_OK && fflush(stdout) == 0 ? 0 : 1;
}
