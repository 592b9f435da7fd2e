#!/bin/sh
# An agent that is wrong in a different way each time, and does what it is told: first it breaks one item and invents a
# severity in another; asked for those two alone, it leaves out a member; asked for that one, it gets it right.
cat >/dev/null
case $SEAMGATE_ATTEMPT in
1) cat <<'OUTPUT' ;;
Here is today's list.

```json
{
  "date": "2026-03-12",
  "summary": "Sign-in fails for some users, and webhooks arrive twice.",
  "recommendations": [
    {"id": "AUTH-210", "severity": "critical", "confidence": 0.97, "rationale": "Sign-in fails after the key rotation."},
    {"id": "HOOK-31", "severity": "high", "confidence": , "rationale": "The log says that it retries each time."},
    {"id": "PAY-88", "severity": "urgent", "confidence": 0.8, "rationale": "Refunds have been pending for three days."},
    {"id": "DOC-5", "severity": "low", "confidence": 0.6, "rationale": "The quick start names an option that is gone."}
  ]
}
```
OUTPUT
2) cat <<'OUTPUT' ;;
```json
{"date": "2026-03-12", "recommendations": [
  {"id": "HOOK-31", "severity": "high", "confidence": 0.9, "rationale": "The log says that it retries each time."},
  {"id": "PAY-88", "severity": "high", "rationale": "Refunds have been pending for three days."}
]}
```
OUTPUT
*) cat <<'OUTPUT' ;;
```json
{"date": "2026-03-12", "recommendations": [
  {"id": "PAY-88", "severity": "high", "confidence": 0.8, "rationale": "Refunds have been pending for three days."}
]}
```
OUTPUT
esac
