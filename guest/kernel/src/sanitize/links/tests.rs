use crate::sanitize::sanitize;

/// Constructs with which a renderer loads an address without a click. `@` is the address.
const LOADS: &[&str] = &[
    // Markdown.
    "![x](@)",
    "![x](<@>)",
    "![x](\n  @ \"title\")",
    "![a [b] c](@)",
    "[![x](@)](local.html)",
    "![x][i]\n\n[i]: @",
    "![x][I  i]\n\n[i i]: @",
    "[i]: @\n\n![x][i]",
    "![i][]\n\n[i]: @",
    "![i]\n\n[i]: @",
    "![i]\n\n[i]: <@> 'title'",
    "![i]\n\n[i]:\n  @",
    "![a [b]][i]\n\n[i]: @",
    "![x `]` y][i]\n\n[i]: @",
    "![x `[` y][i]\n\n[i]: @",
    "![a\\]b]\n\n[a\\]b]: @",
    "![é]\n\n[É]: @",
    "![x][i]\n\n> > [i]: @",
    "![x][i]\n\n- [i]: @",
    "1. ![x][i]\n\n   10) [i]: @",
    "![x][i]\n\n# [[[[[[[[[[[[[[[[[[[[\n[i]: @",
    "![x][i]\r\n\r\n[i]: @",
    // Attributes with one address.
    "<img src=@>",
    "<img src='@'>",
    "<img src=\" @\">",
    "<img\nsrc\n=\n\"@\">",
    "<img\n\nsrc=\"@\">",
    "<img alt=\">\n\n\" src=\"@\">",
    "<IMG SRC=\"@\">",
    "<img/src=\"@\">",
    "<img alt=\"a>b\" src=\"@\">",
    "<img data-src=\"@\" lowsrc='@' dynsrc='@'>",
    "<img attributionsrc=\"@\">",
    "<link rel=stylesheet href=\"@\">",
    "<base href=\"@\"><img src=a.png>",
    "<object data=\"@\" classid='@' codebase='@'></object>",
    "<embed src=\"@\">",
    "<video poster=\"@\"><source src=\"@\"><track src=\"@\"></video>",
    "<audio src=\"@\">",
    "<input type=image src=\"@\">",
    "<body background=\"@\">",
    "<table background=\"@\">",
    "<iframe src=\"@\">",
    "<frame src=\"@\">",
    "<script src=\"@\"></script>",
    "<form action=\"@\"><button formaction=\"@\">",
    "<html manifest=\"@\">",
    "<menuitem icon=\"@\">",
    "<param name=movie value=\"@\">",
    "<?xml-stylesheet href=\"@\"?>",
    "<svg><image href=\"@\" xlink:href=\"@\"/></svg>",
    "<svg:image xlink:href=\"@\"/>",
    "<v:imagedata src=\"@\"/>",
    "<svg><use href=\"@\"/><feImage href='@'/></svg>",
    "<svg><rect fill=\"url(@)\" filter=\"url('@')\"/></svg>",
    "{\"html\": \"<img src=\\\"@\\\">\"}",
    // Several.
    "<img srcset=\"a.png 1x, @ 2x\">",
    "<img srcset=\"@ 1x, @ 2x\">",
    "<img srcset='a.png 1x,@ 2x'>",
    "<img srcset=@>",
    "<source srcset=\"a.webp, @ 2x\">",
    "<link rel=preload as=image imagesrcset=\"a.png, @ 2x\">",
    "<a href=x.html ping=\"x @\">x</a>",
    "<svg><animate attributeName=href values=\"a;@;b\"/></svg>",
    "<svg><set attributeName=\"href\" to=\"@\"/></svg>",
    "<svg><animateTransform from='@' to='a'/></svg>",
    "<meta http-equiv=refresh content=\"0;url=@\">",
    "<meta http-equiv=refresh content=\"0; URL='@'\">",
    "<meta http-equiv=refresh content=\"0,@\">",
    "<meta http-equiv=refresh content='.5 @'>",
    "<meta content=\"0;url=@\" http-equiv=refresh>",
    // Styles.
    "<div style=\"background:url(@)\">",
    "<div style='background:url(\"@\")'>",
    "<div style=\"background:image-set('@' 1x)\">",
    "<div style=\"background:-webkit-image-set(url(a.png) 1x, '@' 2x)\">",
    "<div style=\"background:URL( '@' )\">",
    "<div style=\"background:u\\72l('@')\">",
    "<style>@import \"@\";</style>",
    "<style>@import url(@);</style>",
    "<style>\n\nbody { color: red }\n\n@import '@';\n</style>",
    "<style>\n@font-face { src: url(@) }\n</style>",
    "<svg><style>rect { fill: url('@') }</style></svg>",
    "<style>\n\na::after { content: image-set('a.png' 1x, '@' 2x) }",
    // A document in a value.
    "<iframe srcdoc=\"<img src=&quot;@&quot;>\">",
    "<iframe srcdoc='<img src=@>'>",
    "<iframe srcdoc=\"&lt;img src=&#34;@&#34;&gt;\">",
    "<iframe srcdoc=\"<iframe srcdoc='<img src=&amp;quot;@&amp;quot;>'>\">",
    "<iframe srcdoc=\"<iframe srcdoc='&amp;amp;lt;img src=&amp;amp;#34;@&amp;amp;#34;>'>\">",
    "<img src=a.png onerror=\"fetch('@')\">",
];

/// Addresses that a browser accepts.
const ADDRESSES: &[&str] = &[
    "https://evil.example/a.png",
    "http://evil.example",
    "HTTPS://EVIL.EXAMPLE/a",
    "//evil.example/a",
    "https:/evil.example/a",
    "wss://evil.example/",
    "ftp://evil.example/a",
    "https://user:pass1@evil.example/?q=1",
];

/// Addresses that a browser accepts in a value of HTML.
const IN_HTML: &[&str] = &[
    "\\\\evil.example/a",
    "/\\evil.example/a",
    "https:\\\\evil.example/a",
    "&#104;ttps://evil.example/a",
    "https&colon;//evil.example/a",
    "https:&sol;&sol;evil.example/a",
    "&#47;&#x2f;evil.example/a",
    "/&sol;evil.example/a",
    "&bsol;&bsol;evil.example/a",
    "ht\ttps://evil.example/a",
    "/\t/evil.example/a",
];

/// Returns a text with its entities read once.
fn read(text: &str) -> String {
    let mut out = text.replace("[&]", "\0");
    for (entity, character) in [
        ("&#104;", "h"),
        ("&colon;", ":"),
        ("&sol;", "/"),
        ("&bsol;", "\\"),
        ("&#47;", "/"),
        ("&#x2f;", "/"),
        ("&quot;", "\""),
        ("\t", ""),
    ] {
        out = out.replace(entity, character);
    }
    out.replace('\\', "/").to_ascii_lowercase()
}

/// Returns whether an address is still there, without a bracket before its slashes.
fn is_alive(text: &str) -> bool {
    let text = read(text);
    let is_live = |(at, _)| {
        let before: &str = text[..at].rsplit([' ', '"', '\'', '(', ',', '<']).next().unwrap_or_default();
        !before.contains('\0') && !before.contains("[:]")
    };
    ["//evil", "https:/evil", "pass1@evil"].iter().any(|address| text.match_indices(address).any(is_live))
}

/// Describes what is wrong with a construct after sanitizing.
fn wrong(construct: &str, address: &str) -> Option<String> {
    // An `@` that belongs to CSS stays.
    let text = construct.replace("@import", "\u{1}import").replace("@font", "\u{1}font").replace('@', address);
    let text = text.replace('\u{1}', "@");
    assert!(is_alive(&text), "{text:?}");
    let once = sanitize(&text);
    let again = sanitize(&once.text).text;
    let is_right = !is_alive(&once.text) && once.found.defanged > 0 && again == once.text;
    (!is_right).then(|| format!("{text:?} becomes {:?}, and then {again:?}", once.text))
}

#[test]
fn what_is_loaded_without_a_click_is_defanged() {
    let mut all = Vec::new();
    for construct in LOADS {
        all.extend(ADDRESSES.iter().filter_map(|address| wrong(construct, address)));
        let is_html = construct.contains('<') && !construct.contains("![") && !construct.contains("\"html\"");
        // A tab ends a value without quotes.
        let is_unquoted = construct.contains("=@") || construct.contains("(@");
        let addresses = IN_HTML.iter().filter(|address| is_html && !(is_unquoted && address.contains('\t')));
        all.extend(addresses.filter_map(|address| wrong(construct, address)));
    }
    assert!(all.is_empty(), "{} are wrong:\n{}", all.len(), all.join("\n"));
}

#[test]
fn escapes_of_styles_are_defanged() {
    for (text, written) in [
        (
            r#"<p style="x:url('\68ttps\3a\2f\2f e.example')">"#,
            r#"<p style="x:url('\68ttps[\]3a[\]2f[\]2f e.example')">"#,
        ),
        (r"<style>a{x:url(https\:\/\/e.example)}</style>", r"<style>a{x:url(https\:\/\/[e].example)}</style>"),
    ] {
        let once = sanitize(text).text;
        assert_eq!(once, written);
        assert_eq!(sanitize(&once).text, once);
    }
}

#[test]
fn what_loads_nothing_from_elsewhere_stays() {
    for text in [
        "[x][i] and ![logo](logo.png)\n\n[i]: https://docs.rs/serde",
        "![logo][l] and [x][i]\n\n[l]: logo.png\n[i]: https://docs.rs/serde",
        "![logo][l]\n\n[l]: img//logo.png",
        "<img srcset=\"a.png 1x, /b.png 2x\" src=/a.png>",
        "<meta name=viewport content=\"width=device-width\"> <meta property=og:url content=\"https://a.example/\">",
        "<div style=\"background:url(/a.png); color: red\">see https://a.example/x</div>",
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"><path d=\"M0 0\"/></svg>",
        "{\"html\": \"<img src=\\\"\\/static\\/a.png\\\">\"}",
        "<iframe srcdoc=\"<p>a &amp; b &lt; c</p>\"></iframe>",
        "let x = a <b && c[i]: 3",
        "- [a](b.md)\n- [c]: d",
    ] {
        assert_eq!(sanitize(text).text, text);
    }
}
