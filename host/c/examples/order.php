<?php
// Judges an output of a model from PHP, by its FFI. The argument is the path of libseamgate.so.
declare(strict_types=1);

/** There is no verdict. */
final class Fault extends RuntimeException {}

/** A gate. It is freed with the object. */
final class Gate
{
    private FFI $native;
    private FFI\CData $handle;

    public function __construct(string $library, array $options = [])
    {
        // What this class uses of seamgate.h.
        $this->native = FFI::cdef('
            typedef struct seamgate_gate seamgate_gate;
            typedef struct { char *data; size_t length; } seamgate_text;
            int seamgate_gate_new(const char *, size_t, const char *, size_t, seamgate_gate **, seamgate_text *);
            int seamgate_register(const seamgate_gate *, const char *, size_t, seamgate_text *);
            int seamgate_validate(const seamgate_gate *, const char *, size_t, const char *, size_t, const char *,
                                  size_t, seamgate_text *, void *);
            void seamgate_text_free(seamgate_text *);
            void seamgate_gate_free(seamgate_gate *);
        ', $library);
        $options = json_encode((object) $options, JSON_THROW_ON_ERROR);
        $this->handle = $this->native->new('seamgate_gate *');
        $this->answer(fn ($text) => $this->native->seamgate_gate_new(
            $options, strlen($options), null, 0, FFI::addr($this->handle), $text));
    }

    public function register(array $contract): void
    {
        $contract = json_encode($contract, JSON_THROW_ON_ERROR);
        $this->answer(fn ($text) => $this->native->seamgate_register(
            $this->handle, $contract, strlen($contract), $text));
    }

    /** Returns the report as JSON text. */
    public function validate(string $agent, string $output, array $extras = []): string
    {
        $extras = json_encode((object) $extras, JSON_THROW_ON_ERROR);
        return $this->answer(fn ($text) => $this->native->seamgate_validate(
            $this->handle, $agent, strlen($agent), $output, strlen($output), $extras, strlen($extras), $text, null));
    }

    public function __destruct()
    {
        $this->native->seamgate_gate_free($this->handle);
    }

    private function answer(callable $call): string
    {
        $place = $this->native->new('seamgate_text');
        $status = $call(FFI::addr($place));
        $text = $place->data === null ? '' : FFI::string($place->data, $place->length);
        $this->native->seamgate_text_free(FFI::addr($place));
        return $status === 0 ? $text : throw new Fault($text);
    }
}

$gate = new Gate($argv[1] ?? 'libseamgate.so.0');
$gate->register(['agent' => 'orders', 'schema' => ['type' => 'object', 'required' => ['count'],
    'properties' => ['count' => ['type' => 'integer', 'minimum' => 1]]]]);
echo $gate->validate('orders', "So: ```json\n{\"count\": 2}\n```"), "\n";
try {
    $gate->validate('nobody', '{}');
} catch (Fault $fault) {
    echo $fault->getMessage(), "\n";
}
