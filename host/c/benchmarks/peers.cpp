// One round of calls of the validators that Debian has for C++, in the form of calls.c. They get the JSON alone: they parse it, and
// validate it.
#include <rapidjson/document.h>
#include <rapidjson/reader.h>
#include <rapidjson/schema.h>
#include <valijson/adapters/rapidjson_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "tickets.h"

static void check(bool valid, const char *what) {
    if (!valid) {
        std::fprintf(stderr, "%s: not valid\n", what);
        std::exit(1);
    }
}

// Measures a validator on each size.
template <typename Validate> static void measure(const char *what, Validate validate) {
    for (std::size_t at = 0; at < sizeof SIZES / sizeof *SIZES; at++) {
        char *text = document(SIZES[at]);
        check(validate(text), what);
        const double start = now();
        for (int call = 0; call < CALLS[at]; call++) {
            check(validate(text), what);
        }
        figure(what, SIZES[at], (now() - start) / CALLS[at]);
        std::free(text);
    }
}

int main() {
    rapidjson::Document schema;
    schema.Parse(SCHEMA);
    check(!schema.HasParseError(), "the schema");

    valijson::Schema compiled;
    valijson::SchemaParser parser;
    parser.populateSchema(valijson::adapters::RapidJsonAdapter(schema), compiled);
    measure("valijson, with RapidJSON", [&](const char *text) {
        rapidjson::Document document;
        document.Parse(text);
        valijson::Validator validator;
        return !document.HasParseError() && validator.validate(compiled, valijson::adapters::RapidJsonAdapter(document), nullptr);
    });

    const rapidjson::SchemaDocument rules(schema);
    measure("RapidJSON's validator, while it parses", [&](const char *text) {
        rapidjson::Document document;
        rapidjson::StringStream stream(text);
        rapidjson::SchemaValidatingReader<rapidjson::kParseDefaultFlags, rapidjson::StringStream, rapidjson::UTF8<>> reader(stream, rules);
        document.Populate(reader);
        return bool(reader.GetParseResult()) && reader.IsValid();
    });

    measure("RapidJSON alone, into a document", [&](const char *text) {
        rapidjson::Document document;
        document.Parse(text);
        return !document.HasParseError();
    });
    return 0;
}
