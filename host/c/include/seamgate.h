/*
 * Made by cargo xtask generate from wit/ and xtask/generate/. Do not edit: run it again.
 *
 * The C interface of seamgate, the gate for the output of language models. host/c/README.md shows how to use it.
 *
 * Texts go in as a pointer and a length. They need not end in a NUL byte. A null pointer is allowed
 * where the length is 0, and is an empty text. All texts but outputs must be UTF-8.
 *
 * Texts come out as a seamgate_text, which the caller frees with seamgate_text_free. A function
 * writes it in any case: the result if it returns SEAMGATE_STATUS_OK, and otherwise the fault, as JSON
 * text. It does not read what was there before, so free a text before you pass its place again.
 *
 * The library checks null pointers, lengths and UTF-8, and answers with
 * SEAMGATE_STATUS_BAD_ARGUMENT. It cannot check that as many bytes as the length says are there, or
 * that a handle was not freed.
 *
 * Threads: any number of threads may use one gate at once. Those that use one session, instance or
 * attempts at once take turns. Freeing is for the last user alone. No function calls back.
 *
 * No panic of the library gets out of it: it becomes SEAMGATE_STATUS_INTERNAL, and its message goes
 * to standard error, too. If the process has no memory left, it ends.
 */

#ifndef SEAMGATE_H
#define SEAMGATE_H

#include <stddef.h>
#include <stdint.h>

/** The version of this header. */
#define SEAMGATE_VERSION "0.1.0"

/**
 * The outcome of a call: a result, or a kind of fault. The numbers stay as they are in all versions; later versions can add further ones.
 *
 * `SEAMGATE_STATUS_OK` says that there is a result, which may be the report of a rejected output. Any other status is a fault: there is no
 * result, and no part of the output was accepted. Its text is JSON: `{"fault":"out_of_fuel","message":"…","detail":{…}}`.
 */
typedef enum seamgate_status {
    /**
     * There is a result.
     */
    SEAMGATE_STATUS_OK = 0,
    /**
     * The request is invalid, or lacks a list or the evidence that the contract needs.
     */
    SEAMGATE_STATUS_BAD_REQUEST = 1,
    /**
     * The contract is invalid, or the agent has another one already.
     */
    SEAMGATE_STATUS_BAD_CONTRACT = 2,
    /**
     * The profile is invalid, or the agent has another one already.
     */
    SEAMGATE_STATUS_BAD_PROFILE = 3,
    /**
     * No contract, or no profile, is registered for the agent.
     */
    SEAMGATE_STATUS_UNKNOWN_AGENT = 4,
    /**
     * The component is baked: it takes no further contracts and profiles.
     */
    SEAMGATE_STATUS_SEALED = 5,
    /**
     * The call used all its fuel.
     */
    SEAMGATE_STATUS_OUT_OF_FUEL = 6,
    /**
     * The call used all its memory.
     */
    SEAMGATE_STATUS_OUT_OF_MEMORY = 7,
    /**
     * The call used all its stack.
     */
    SEAMGATE_STATUS_STACK_OVERFLOW = 8,
    /**
     * The call took too long.
     */
    SEAMGATE_STATUS_TIMEOUT = 9,
    /**
     * No instance became free in time, or too many sessions and instances are open.
     */
    SEAMGATE_STATUS_BUSY = 10,
    /**
     * The output is longer than the limit.
     */
    SEAMGATE_STATUS_INPUT_TOO_LARGE = 11,
    /**
     * The component failed: it has a bug.
     */
    SEAMGATE_STATUS_TRAP = 12,
    /**
     * The caller passed a null pointer where there must be none, a length that cannot be, or a text that is not UTF-8.
     */
    SEAMGATE_STATUS_BAD_ARGUMENT = 13,
    /**
     * The gate could not be made: the engine does not run here, or the component is not a validator.
     */
    SEAMGATE_STATUS_LOAD_ERROR = 14,
    /**
     * A file cannot be read.
     */
    SEAMGATE_STATUS_FILE_ERROR = 15,
    /**
     * The library panicked: it has a bug. What the call was for is unusable if it was a session, an instance or attempts.
     */
    SEAMGATE_STATUS_INTERNAL = 16,
} seamgate_status;

/**
 * The attempts of one run of the retry loop, and the verdict on all of them together. Threads that use it at once take turns.
 */
typedef struct seamgate_attempts seamgate_attempts;

/**
 * A gate. Any number of threads may use one at once, and register contracts while others judge by it.
 */
typedef struct seamgate_gate seamgate_gate;

/**
 * An instance for more than one call, for callers who trust all their producers alike: what one output did to it, the next one finds.
 * The reports are the same bytes. Threads that use one at once take turns.
 */
typedef struct seamgate_instance seamgate_instance;

/**
 * An output that is still coming: chunks in, the verdict at the end. Threads that use one at once take turns.
 */
typedef struct seamgate_session seamgate_session;

/**
 * A text that the library gave. The caller owns it, and frees it with `seamgate_text_free`.
 */
typedef struct seamgate_text {
    /**
     * The bytes, in UTF-8. A NUL byte follows them, which `length` does not count. Null if there is no text.
     */
    char *data;
    /**
     * The number of bytes.
     */
    size_t length;
} seamgate_text;

/**
 * The resources that a call used. They are no part of the report.
 */
typedef struct seamgate_usage {
    /**
     * The fuel. The same request takes the same fuel everywhere, with the same component.
     */
    uint64_t fuel;
    /**
     * The most memory that the instance had, in bytes.
     */
    uint64_t memory;
    /**
     * The time inside the sandbox, in nanoseconds.
     */
    uint64_t nanoseconds;
} seamgate_usage;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the code of a status, such as `"out_of_fuel"`; `"ok"` for `SEAMGATE_STATUS_OK`; null for a number that is no status. The
 * text ends in a NUL byte. Nobody frees it.
 */
const char *seamgate_status_name(int status);

/**
 * Returns the version of the library, such as `"0.1.0"`. The text ends in a NUL byte. Nobody frees it.
 */
const char *seamgate_version(void);

/**
 * Frees a text, and makes it empty, so that to free it again does nothing. Null is allowed.
 */
void seamgate_text_free(struct seamgate_text *text);

/**
 * Makes a gate.
 *
 * `options` is JSON text, and may be empty. All members have defaults: `{"limits": {"fuel": 100000000, "fuel_per_byte": 500,
 * "contract_fuel": 500000000, "contract_fuel_per_byte": 2500, "memory": 67108864, "timeout_ms": 5000, "output_bytes": 8388608},
 * "slots": 8, "cache": "/a/folder"}`. `slots` is how many calls run at once. `cache` is where the machine code of components
 * other than the built-in one is kept, and null for nowhere.
 *
 * `component` may be empty, for the built-in component. Otherwise it has the bytes of another one, such as `seamgate bake` makes
 * with contracts inside.
 *
 * `gate` receives the gate; free it with `seamgate_gate_free`. `fault` receives the fault, and may be null.
 */
enum seamgate_status seamgate_gate_new(const char *options,
                                       size_t options_length,
                                       const char *component,
                                       size_t component_length,
                                       struct seamgate_gate **gate,
                                       struct seamgate_text *fault);

/**
 * Frees a gate. Its sessions, instances and attempts keep what they need, and stay usable. Null is allowed.
 */
void seamgate_gate_free(struct seamgate_gate *gate);

/**
 * Describes the gate's component as JSON text: contracts and profiles that were baked into it, its size, and its digest.
 */
enum seamgate_status seamgate_inspect(const struct seamgate_gate *gate,
                                      struct seamgate_text *inspection);

/**
 * Checks a contract and keeps it: from now on it judges the outputs of its agent. The same contract again changes nothing.
 *
 * `contract` is one whole JSON document (`schemas/contract.schema.json`), with the schema inside; `seamgate_read_contract` reads
 * one from disk. `info` receives what it is, as JSON text, or the fault. It may be null.
 */
enum seamgate_status seamgate_register(const struct seamgate_gate *gate,
                                       const char *contract,
                                       size_t contract_length,
                                       struct seamgate_text *info);

/**
 * Checks a profile (`schemas/profile.schema.json`) and keeps it: from now on it decides what its agent may do. `info` receives
 * what it is, as JSON text, or the fault. It may be null.
 */
enum seamgate_status seamgate_register_profile(const struct seamgate_gate *gate,
                                               const char *profile,
                                               size_t profile_length,
                                               struct seamgate_text *info);

/**
 * Reads a contract from a file, and puts in the schemas that it names by relative paths. `contract` receives one whole document
 * for `seamgate_register`, or the fault.
 */
enum seamgate_status seamgate_read_contract(const char *path,
                                            size_t path_length,
                                            struct seamgate_text *contract);

/**
 * Reads a profile from a file, as `seamgate_read_contract` does a contract.
 */
enum seamgate_status seamgate_read_profile(const char *path,
                                           size_t path_length,
                                           struct seamgate_text *profile);

/**
 * Lists likely mistakes in a contract as a JSON list. The contract need not be registered.
 */
enum seamgate_status seamgate_lint(const struct seamgate_gate *gate,
                                   const char *contract,
                                   size_t contract_length,
                                   struct seamgate_text *warnings);

/**
 * Lists likely mistakes in a profile, as `seamgate_lint` does for a contract.
 */
enum seamgate_status seamgate_lint_profile(const struct seamgate_gate *gate,
                                           const char *profile,
                                           size_t profile_length,
                                           struct seamgate_text *warnings);

/**
 * Describes for an agent's prompt what its output must be. `description` receives plain text, or the fault.
 */
enum seamgate_status seamgate_describe(const struct seamgate_gate *gate,
                                       const char *agent,
                                       size_t agent_length,
                                       struct seamgate_text *description);

/**
 * Describes for an agent's prompt what it may do, by its profile. `description` receives plain text, or the fault.
 */
enum seamgate_status seamgate_describe_profile(const struct seamgate_gate *gate,
                                               const char *agent,
                                               size_t agent_length,
                                               struct seamgate_text *description);

/**
 * Judges one output, in a fresh instance.
 *
 * `output` has the raw bytes that the agent produced; they need not be UTF-8. `extras` is JSON text, and may be empty:
 * `{"finish": "stop", "lists": {"teams": ["web"]}, "evidence": [{"id": "log#1", "text": "…"}]}`, as in
 * `schemas/request.schema.json`.
 *
 * `report` receives the report (`schemas/report.schema.json`), or the fault. A rejected output has a report, and the status
 * `SEAMGATE_STATUS_OK`: read `disposition`. `usage` may be null.
 */
enum seamgate_status seamgate_validate(const struct seamgate_gate *gate,
                                       const char *agent,
                                       size_t agent_length,
                                       const char *output,
                                       size_t output_length,
                                       const char *extras,
                                       size_t extras_length,
                                       struct seamgate_text *report,
                                       struct seamgate_usage *usage);

/**
 * Judges one output by a contract that need not be registered, in a fresh instance. The rest is as in `seamgate_validate`.
 */
enum seamgate_status seamgate_validate_with(const struct seamgate_gate *gate,
                                            const char *contract,
                                            size_t contract_length,
                                            const char *output,
                                            size_t output_length,
                                            const char *extras,
                                            size_t extras_length,
                                            struct seamgate_text *report,
                                            struct seamgate_usage *usage);

/**
 * Puts together the reports of several attempts of one agent, in their order, and judges the result as a whole.
 *
 * `reports` is a JSON list of reports. `extras` has the lists and the evidence, as in `seamgate_validate`. `report` receives the
 * report on all of them, or the fault. `usage` may be null.
 */
enum seamgate_status seamgate_merge(const struct seamgate_gate *gate,
                                    const char *reports,
                                    size_t reports_length,
                                    const char *extras,
                                    size_t extras_length,
                                    struct seamgate_text *report,
                                    struct seamgate_usage *usage);

/**
 * Answers one request that is JSON text (`schemas/request.schema.json`), in a fresh instance. Every operation of the component is
 * such a request, those of runs of agents included.
 *
 * `answer` receives one line of JSON: `{"id":…,"report":{…}}`, `{"id":…,"result":…}` or `{"id":…,"fault":{…}}`. A fault of the
 * request itself is such an answer, with the status `SEAMGATE_STATUS_OK`. Any other status says that the call passed a limit. `usage` may
 * be null.
 */
enum seamgate_status seamgate_call(const struct seamgate_gate *gate,
                                   const char *request,
                                   size_t request_length,
                                   struct seamgate_text *answer,
                                   struct seamgate_usage *usage);

/**
 * Begins an output that is still coming.
 *
 * `extras` is as in `seamgate_validate`; its `finish` does not count. `session` receives the session; free it with
 * `seamgate_session_free`. `fault` receives the fault, and may be null.
 */
enum seamgate_status seamgate_session_new(const struct seamgate_gate *gate,
                                          const char *agent,
                                          size_t agent_length,
                                          const char *extras,
                                          size_t extras_length,
                                          struct seamgate_session **session,
                                          struct seamgate_text *fault);

/**
 * Adds the next bytes of the output, which may be cut anywhere.
 *
 * `progress` receives what is known now, as JSON text, or the fault. It may be null. If its member `dead_end` is not null, no
 * further bytes can make the output right: stop the producer. A fault ends the session.
 */
enum seamgate_status seamgate_session_push(const struct seamgate_session *session,
                                           const char *chunk,
                                           size_t chunk_length,
                                           struct seamgate_text *progress);

/**
 * Ends a session, and judges all that came: `report` receives what `seamgate_validate` gives for the whole output.
 *
 * `finish` is the word for why the producer stopped, such as `stop` or `length`, and may be empty. `usage` may be null, and has the
 * sum of all calls. The session still has to be freed.
 */
enum seamgate_status seamgate_session_finish(const struct seamgate_session *session,
                                             const char *finish,
                                             size_t finish_length,
                                             struct seamgate_text *report,
                                             struct seamgate_usage *usage);

/**
 * Frees a session, with or without a verdict. Null is allowed.
 */
void seamgate_session_free(struct seamgate_session *session);

/**
 * Makes an instance. It knows what is registered in the gate by now, and nothing that is registered later.
 *
 * `instance` receives it; free it with `seamgate_instance_free`. `fault` receives the fault, and may be null.
 */
enum seamgate_status seamgate_instance_new(const struct seamgate_gate *gate,
                                           struct seamgate_instance **instance,
                                           struct seamgate_text *fault);

/**
 * Judges one output in the instance, as `seamgate_validate` does in a fresh one.
 */
enum seamgate_status seamgate_instance_validate(const struct seamgate_instance *instance,
                                                const char *agent,
                                                size_t agent_length,
                                                const char *output,
                                                size_t output_length,
                                                const char *extras,
                                                size_t extras_length,
                                                struct seamgate_text *report,
                                                struct seamgate_usage *usage);

/**
 * Answers one request in the instance, as `seamgate_call` does in a fresh one.
 */
enum seamgate_status seamgate_instance_call(const struct seamgate_instance *instance,
                                            const char *request,
                                            size_t request_length,
                                            struct seamgate_text *answer,
                                            struct seamgate_usage *usage);

/**
 * Frees an instance. Null is allowed.
 */
void seamgate_instance_free(struct seamgate_instance *instance);

/**
 * Begins the retry loop for an agent. The contract's `retry.limit` says how often to ask again.
 *
 * `extras` is as in `seamgate_validate`; its `finish` does not count. If `allow_partial` is not 0, the loop may end with a partial
 * verdict. `attempts` receives the attempts; free them with `seamgate_attempts_free`. `fault` receives the fault, and may be null.
 */
enum seamgate_status seamgate_attempts_new(const struct seamgate_gate *gate,
                                           const char *agent,
                                           size_t agent_length,
                                           const char *extras,
                                           size_t extras_length,
                                           int32_t allow_partial,
                                           struct seamgate_attempts **attempts,
                                           struct seamgate_text *fault);

/**
 * Returns the next step as JSON text: `{"stop":null,"feedback":null,"attempt":1}`.
 *
 * While `stop` is null, ask the producer, and send it `feedback`, which is null the first time. Otherwise `stop` says why the loop
 * is over: `accepted`, `partial`, `refused`, `not_retryable`, `repeated` or `limit`. `attempt` is the number of the attempt that
 * comes, or that was the last one.
 */
enum seamgate_status seamgate_attempts_next(const struct seamgate_attempts *attempts,
                                            struct seamgate_text *step);

/**
 * Judges the next output of the producer. `report` receives the verdict on that output alone, or the fault; after a fault, the output
 * does not count as an attempt. `finish` is as in `seamgate_session_finish`. `usage` may be null.
 */
enum seamgate_status seamgate_attempts_judge(const struct seamgate_attempts *attempts,
                                             const char *output,
                                             size_t output_length,
                                             const char *finish,
                                             size_t finish_length,
                                             struct seamgate_text *report,
                                             struct seamgate_usage *usage);

/**
 * Returns the verdict on all attempts together. Before the first attempt, that is a fault. Use its document only if the loop stopped
 * with `accepted` or `partial`.
 */
enum seamgate_status seamgate_attempts_report(const struct seamgate_attempts *attempts,
                                              struct seamgate_text *report);

/**
 * Frees attempts. Null is allowed.
 */
void seamgate_attempts_free(struct seamgate_attempts *attempts);

/**
 * Lists the tools that the model may see now.
 *
 * `facts` is JSON text (`schemas/facts.schema.json`). `listed` is what servers list (`schemas/lock.schema.json`), and may be empty.
 * `surface` receives the tools, or the fault. `usage` may be null.
 */
enum seamgate_status seamgate_surface(const struct seamgate_gate *gate,
                                      const char *agent,
                                      size_t agent_length,
                                      const char *facts,
                                      size_t facts_length,
                                      const char *listed,
                                      size_t listed_length,
                                      struct seamgate_text *surface,
                                      struct seamgate_usage *usage);

/**
 * Decides whether a call of a tool may run. A denied call is a decision, and no fault.
 *
 * `facts` and `call` are JSON texts (`schemas/facts.schema.json`, `schemas/call.schema.json`). `decision` receives the decision
 * (`schemas/decision.schema.json`), or the fault. `usage` may be null.
 */
enum seamgate_status seamgate_permit(const struct seamgate_gate *gate,
                                     const char *agent,
                                     size_t agent_length,
                                     const char *facts,
                                     size_t facts_length,
                                     const char *call,
                                     size_t call_length,
                                     struct seamgate_text *decision,
                                     struct seamgate_usage *usage);

/**
 * Makes an observation of what a tool returned: what the model may read of it.
 *
 * `facts`, `call` and `result` are JSON texts (`schemas/facts.schema.json`, `schemas/call.schema.json`,
 * `schemas/result.schema.json`). `observation` receives the observation (`schemas/observation.schema.json`), or the fault. `usage`
 * may be null.
 */
enum seamgate_status seamgate_observe(const struct seamgate_gate *gate,
                                      const char *agent,
                                      size_t agent_length,
                                      const char *facts,
                                      size_t facts_length,
                                      const char *call,
                                      size_t call_length,
                                      const char *result,
                                      size_t result_length,
                                      struct seamgate_text *observation,
                                      struct seamgate_usage *usage);

/**
 * Applies one event to a run of an agent. The caller keeps the state and the journal, and causes the effects.
 *
 * `state` is the state of the step before, and empty for the first event. `event` is JSON text (`schemas/event.schema.json`).
 * `step` receives the step (`schemas/step.schema.json`), or the fault. `usage` may be null.
 */
enum seamgate_status seamgate_advance(const struct seamgate_gate *gate,
                                      const char *agent,
                                      size_t agent_length,
                                      const char *state,
                                      size_t state_length,
                                      const char *event,
                                      size_t event_length,
                                      struct seamgate_text *step,
                                      struct seamgate_usage *usage);

/**
 * Shows a line of a journal to an audience: `model`, `ui`, `user`, `audit` or `eval`. `view` receives JSON text, or the fault.
 * `usage` may be null.
 */
enum seamgate_status seamgate_project(const struct seamgate_gate *gate,
                                      const char *agent,
                                      size_t agent_length,
                                      const char *line,
                                      size_t line_length,
                                      const char *audience,
                                      size_t audience_length,
                                      struct seamgate_text *view,
                                      struct seamgate_usage *usage);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SEAMGATE_H */
