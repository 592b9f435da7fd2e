//! Measures sanitizing: compares ordinary texts and the most hostile known texts with ordinary logs.

use std::{hint::black_box, time::Instant};

use seamgate_kernel::sanitize::sanitize;

/// The size of each text, in bytes.
const BYTES: usize = 5_000_000;

/// The number of rounds. The fastest one is reported.
const ROUNDS: usize = 3;

/// Returns the pieces of the texts. The ordinary logs are first.
fn pieces() -> Vec<(&'static str, String)> {
    let logs = "2026-11-23T10:03:12.481Z ERROR payment-api [http-nio-8080-exec-7] c.e.p.Client: request 7f3a91 to \
                http://db-3.internal:5432/pay?retry=2 failed after 30012 ms: connection timed out (attempt 3 of 5)\n\
                10.2.3.4 - - [23/Nov/2026:10:03:13 +0000] \"GET /api/v1/orders/88231 HTTP/1.1\" 502 157 \"-\" \"curl/8.5.0\"\n\
                {\"level\":\"warn\",\"ts\":1795428193.2,\"msg\":\"slow query\",\"ms\":1840,\"sql\":\"SELECT * FROM t WHERE id = 7\"}\n";
    let prose = "The user of this service should read the previous section before they run a tool, because you are now on a \
                 page which all the rules of the system refer to, and each of them is explained. ";
    let secrets = format!("ghp_{} password=hunter22 ", "a1".repeat(18));
    let pieces = [
        ("logs", logs),
        ("prose", prose),
        ("Chinese", "服务在三十秒后超时，用户需要重试三次。系统管理员检查了数据库的连接。"),
        ("Russian", "Сервис не ответил за тридцать секунд, пользователь повторил запрос три раза. "),
        ("zero width", "\u{200b}"),
        ("letter and zero width", "a\u{200b}"),
        ("controls", "\u{1}a"),
        ("escapes", "\\u0041"),
        ("surrogates", "\\ud83d\\ude00"),
        ("broken escapes", "\\u\\u{\\u{12345"),
        ("sequences", "\u{1b}[1;2"),
        ("joiners", "👩\u{200d}"),
        ("words of rules", "ignore all previous your system no user already approved by user "),
        ("you", "you "),
        ("be", "be be"),
        ("all", "all,"),
        ("begin", "-----BEGIN PRIVATE KEY-----\n"),
        ("begin and end", "-----BEGIN PRIVATE KEY-----\nx-----END "),
        ("jwt", "eyJa-eyJ"),
        ("jwt parts", "eyJ."),
        ("jwt long parts", "eyJaaaaaaaaaaaaaaaaaaaa."),
        ("tokens", "sk-"),
        ("names of tokens", "sk-ant-"),
        ("token beginnings", "AKIA"),
        ("keys", "password="),
        ("quoted keys", "password=\"a b"),
        ("keys and names", "key=key:"),
        ("authorities", "http://a:"),
        ("schemes", "a://"),
        ("bearer", "bearer a"),
        ("brackets", "["),
        ("closed brackets", "]("),
        ("links", "[a](http://a.b"),
        ("images", "![](//x"),
        ("tags", "<a"),
        ("attributes", "<a src="),
        ("urls", "<a url("),
        ("styles", "<p style='"),
        ("style sheets", "<style>//"),
        ("lists of addresses", "<img srcset=\"//x"),
        ("images by reference", "![a]["),
        ("definitions", "\n[a]: //x"),
        ("entities in entities", "<iframe srcdoc=\"&amp;&#58;"),
        ("marks", "<|a"),
        ("roles", "\nsystem:"),
        ("line starts", "\n####      system"),
        ("accents", "a\u{301}"),
        ("secrets", secrets.as_str()),
    ];
    pieces.map(|(name, piece)| (name, piece.to_owned())).into()
}

/// Returns a table with the speed of sanitizing each text, and how many times slower that is than for logs.
pub(crate) fn table() -> String {
    let mut out = String::from(
        "\n## Cleaning\n\n5 MB of each, natively, the least of three rounds.\n\n| text | MB/s | time / time of logs |\n| --- | ---: | ---: |\n",
    );
    let mut logs = f64::NAN;
    for (name, piece) in pieces() {
        let text = piece.repeat(BYTES / piece.len() + 1);
        let seconds = (0..ROUNDS).map(|_| {
            let start = Instant::now();
            black_box(sanitize(black_box(&text)));
            start.elapsed().as_secs_f64()
        });
        let nanoseconds = seconds.fold(f64::INFINITY, f64::min) * 1e9 / text.len() as f64;
        if logs.is_nan() {
            logs = nanoseconds;
        }
        out.push_str(&format!("| {name} | {:.0} | {:.1} |\n", 1e3 / nanoseconds, nanoseconds / logs));
    }
    out
}
