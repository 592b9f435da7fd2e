/* Judges two outputs of a model by one contract. */
#include <stdio.h>
#include <string.h>

#include <seamgate.h>

static const char CONTRACT[] =
    "{\"agent\": \"orders\", \"schema\": {\"type\": \"object\", \"required\": [\"id\", \"count\"],"
    " \"properties\": {\"id\": {\"type\": \"string\"}, \"count\": {\"type\": \"integer\", \"minimum\": 1}}}}";

int main(void) {
    static const char *const outputs[] = {
        "Here you are: ```json\n{\"id\": \"A-7\", \"count\": 2}\n```",
        "{\"id\": \"A-7\", \"count\": 0}",
    };
    seamgate_gate *gate = NULL;
    seamgate_text text; /* The result of the last call, or its fault. */
    seamgate_usage usage;
    seamgate_status status = seamgate_gate_new(NULL, 0, NULL, 0, &gate, &text);
    if (status == SEAMGATE_STATUS_OK) {
        status = seamgate_register(gate, CONTRACT, strlen(CONTRACT), &text);
    }
    for (int at = 0; status == SEAMGATE_STATUS_OK && at < 2; at++) {
        seamgate_text_free(&text);
        status = seamgate_validate(gate, "orders", strlen("orders"), outputs[at],
                                   strlen(outputs[at]), NULL, 0, &text, &usage);
        if (status == SEAMGATE_STATUS_OK) {
            /* All of the report is JSON text. It begins with the disposition. */
            printf("%.25s… %zu bytes\n", text.data, text.length);
        }
    }
    if (status != SEAMGATE_STATUS_OK) {
        fprintf(stderr, "no verdict: %s\n", text.data);
    }
    seamgate_text_free(&text);
    seamgate_gate_free(gate);
    return status == SEAMGATE_STATUS_OK ? 0 : 1;
}
