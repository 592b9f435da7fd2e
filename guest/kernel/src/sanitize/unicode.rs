//! Properties of characters, by the tables of Unicode 17.0.
//!
//! [`seamgate_core::is_hidden`] contains the list of hidden characters. These tables determine where such a character
//! is ordinary text. A test compares them with `icu_properties`, so that a new version of Unicode is noticed.

use super::types::Hidden;

/// Returns the class of a hidden character.
pub(super) fn class(character: char) -> Hidden {
    match character {
        '\u{e0000}'..='\u{e007f}' => Hidden::Tag,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{180b}'..='\u{180d}' | '\u{180f}' => {
            Hidden::VariationSelector
        }
        '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2064}'
        | '\u{feff}'
        | '\u{34f}'
        | '\u{180e}'
        | '\u{ad}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{3164}'
        | '\u{ffa0}' => Hidden::ZeroWidth,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Hidden::Bidi,
        character if character.is_control() => Hidden::Control,
        _ => Hidden::Other,
    }
}

/// Characters with the property `Extended_Pictographic`.
#[rustfmt::skip]
const PICTOGRAPHS: [(u32, u32); 156] = [
    (0xa9, 0xa9), (0xae, 0xae), (0x203c, 0x203c), (0x2049, 0x2049), (0x2122, 0x2122), (0x2139, 0x2139),
    (0x2194, 0x2199), (0x21a9, 0x21aa), (0x231a, 0x231b), (0x2328, 0x2328), (0x23cf, 0x23cf), (0x23e9, 0x23f3),
    (0x23f8, 0x23fa), (0x24c2, 0x24c2), (0x25aa, 0x25ab), (0x25b6, 0x25b6), (0x25c0, 0x25c0), (0x25fb, 0x25fe),
    (0x2600, 0x2604), (0x260e, 0x260e), (0x2611, 0x2611), (0x2614, 0x2615), (0x2618, 0x2618), (0x261d, 0x261d),
    (0x2620, 0x2620), (0x2622, 0x2623), (0x2626, 0x2626), (0x262a, 0x262a), (0x262e, 0x262f), (0x2638, 0x263a),
    (0x2640, 0x2640), (0x2642, 0x2642), (0x2648, 0x2653), (0x265f, 0x2660), (0x2663, 0x2663), (0x2665, 0x2666),
    (0x2668, 0x2668), (0x267b, 0x267b), (0x267e, 0x267f), (0x2692, 0x2697), (0x2699, 0x2699), (0x269b, 0x269c),
    (0x26a0, 0x26a1), (0x26a7, 0x26a7), (0x26aa, 0x26ab), (0x26b0, 0x26b1), (0x26bd, 0x26be), (0x26c4, 0x26c5),
    (0x26c8, 0x26c8), (0x26ce, 0x26cf), (0x26d1, 0x26d1), (0x26d3, 0x26d4), (0x26e9, 0x26ea), (0x26f0, 0x26f5),
    (0x26f7, 0x26fa), (0x26fd, 0x26fd), (0x2702, 0x2702), (0x2705, 0x2705), (0x2708, 0x270d), (0x270f, 0x270f),
    (0x2712, 0x2712), (0x2714, 0x2714), (0x2716, 0x2716), (0x271d, 0x271d), (0x2721, 0x2721), (0x2728, 0x2728),
    (0x2733, 0x2734), (0x2744, 0x2744), (0x2747, 0x2747), (0x274c, 0x274c), (0x274e, 0x274e), (0x2753, 0x2755),
    (0x2757, 0x2757), (0x2763, 0x2764), (0x2795, 0x2797), (0x27a1, 0x27a1), (0x27b0, 0x27b0), (0x27bf, 0x27bf),
    (0x2934, 0x2935), (0x2b05, 0x2b07), (0x2b1b, 0x2b1c), (0x2b50, 0x2b50), (0x2b55, 0x2b55), (0x3030, 0x3030),
    (0x303d, 0x303d), (0x3297, 0x3297), (0x3299, 0x3299), (0x1f004, 0x1f004), (0x1f02c, 0x1f02f), (0x1f094, 0x1f09f),
    (0x1f0af, 0x1f0b0), (0x1f0c0, 0x1f0c0), (0x1f0cf, 0x1f0d0), (0x1f0f6, 0x1f0ff), (0x1f170, 0x1f171),
    (0x1f17e, 0x1f17f), (0x1f18e, 0x1f18e), (0x1f191, 0x1f19a), (0x1f1af, 0x1f1e5), (0x1f201, 0x1f20f),
    (0x1f21a, 0x1f21a), (0x1f22f, 0x1f22f), (0x1f232, 0x1f23a), (0x1f23c, 0x1f23f), (0x1f249, 0x1f25f),
    (0x1f266, 0x1f321), (0x1f324, 0x1f393), (0x1f396, 0x1f397), (0x1f399, 0x1f39b), (0x1f39e, 0x1f3f0),
    (0x1f3f3, 0x1f3f5), (0x1f3f7, 0x1f3fa), (0x1f400, 0x1f4fd), (0x1f4ff, 0x1f53d), (0x1f549, 0x1f54e),
    (0x1f550, 0x1f567), (0x1f56f, 0x1f570), (0x1f573, 0x1f57a), (0x1f587, 0x1f587), (0x1f58a, 0x1f58d),
    (0x1f590, 0x1f590), (0x1f595, 0x1f596), (0x1f5a4, 0x1f5a5), (0x1f5a8, 0x1f5a8), (0x1f5b1, 0x1f5b2),
    (0x1f5bc, 0x1f5bc), (0x1f5c2, 0x1f5c4), (0x1f5d1, 0x1f5d3), (0x1f5dc, 0x1f5de), (0x1f5e1, 0x1f5e1),
    (0x1f5e3, 0x1f5e3), (0x1f5e8, 0x1f5e8), (0x1f5ef, 0x1f5ef), (0x1f5f3, 0x1f5f3), (0x1f5fa, 0x1f64f),
    (0x1f680, 0x1f6c5), (0x1f6cb, 0x1f6d2), (0x1f6d5, 0x1f6e5), (0x1f6e9, 0x1f6e9), (0x1f6eb, 0x1f6f0),
    (0x1f6f3, 0x1f6ff), (0x1f7dc, 0x1f7f0), (0x1f80c, 0x1f80f), (0x1f848, 0x1f84f), (0x1f85a, 0x1f85f),
    (0x1f888, 0x1f88f), (0x1f8ae, 0x1f8af), (0x1f8bc, 0x1f8bf), (0x1f8c2, 0x1f8cf), (0x1f8d9, 0x1f8ff),
    (0x1f90c, 0x1f93a), (0x1f93c, 0x1f945), (0x1f947, 0x1f9ff), (0x1fa58, 0x1fa5f), (0x1fa6e, 0x1faff),
    (0x1fc00, 0x1fffd),
];

fn is_within(ranges: &[(u32, u32)], character: char) -> bool {
    let code = u32::from(character);
    let after = ranges.partition_point(|&(first, _)| first <= code);
    after > 0 && code <= ranges[after - 1].1
}

/// Returns whether a character is, or may be shown as, an emoji.
pub(super) fn is_pictograph(character: char) -> bool {
    is_within(&PICTOGRAPHS, character)
}

fn is_han(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3fffd}')
}

/// Returns whether a character is in a block of scripts whose words are written with joiners: Arabic, Syriac, N'Ko,
/// those of India and South East Asia, Mongolian.
fn is_joined(character: char) -> bool {
    const BLOCKS: [(u32, u32); 20] = [
        (0x600, 0x8ff),
        (0x900, 0xdff),
        (0xf00, 0xfff),
        (0x1000, 0x109f),
        (0x1700, 0x17ff),
        (0x1800, 0x18af),
        (0x1a20, 0x1aaf),
        (0x1b00, 0x1bff),
        (0x1cd0, 0x1cff),
        (0xa800, 0xa82f),
        (0xa840, 0xa8ff),
        (0xa980, 0xaadf),
        (0xabc0, 0xabff),
        (0xfb50, 0xfdff),
        (0xfe70, 0xfefe),
        (0x10a00, 0x10a5f),
        (0x10d00, 0x10d3f),
        (0x11000, 0x1197f),
        (0x11c00, 0x11cbf),
        (0x1e900, 0x1e95f),
    ];
    is_within(&BLOCKS, character) && !seamgate_core::is_hidden(character)
}

fn is_variation_selector(character: char) -> bool {
    class(character) == Hidden::VariationSelector
}

/// Returns whether a hidden character is ordinary text at its place: a selector after a character that has variants, or
/// a joiner between emoji or inside a word of a script that uses joiners. `before` ends directly before the character,
/// and `after` begins directly after it.
pub(super) fn is_ordinary(before: &str, character: char, after: &str) -> bool {
    let mut backwards = before.chars().rev();
    let (Some(last), next) = (backwards.next(), after.chars().next()) else { return false };
    match character {
        '\u{200d}' => {
            let is_emoji = is_pictograph(last)
                || matches!(last, '\u{1f3fb}'..='\u{1f3ff}')
                || last == '\u{fe0f}' && backwards.next().is_some_and(is_pictograph);
            is_emoji && next.is_some_and(is_pictograph)
                || is_joined(last) && !next.is_some_and(seamgate_core::is_hidden)
        }
        '\u{200c}' => is_joined(last) && next.is_some_and(is_joined),
        // Two in a row are never ordinary, so neither of them stays.
        _ if next.is_some_and(is_variation_selector) => false,
        '\u{fe0e}' | '\u{fe0f}' => {
            is_pictograph(last) || matches!(last, '0'..='9' | '#' | '*') && next == Some('\u{20e3}')
        }
        '\u{fe00}' => {
            is_han(last)
                || matches!(last, '\u{2200}'..='\u{22ff}' | '\u{2a00}'..='\u{2aff}' | '\u{1000}'..='\u{109f}'
                    | '\u{aa60}'..='\u{aa7f}' | '\u{a840}'..='\u{a877}' | '\u{3001}' | '\u{3002}'
                    | '\u{ff01}' | '\u{ff0c}' | '\u{ff0e}' | '\u{ff1a}' | '\u{ff1b}' | '\u{ff1f}')
        }
        '\u{fe01}' | '\u{fe02}' | '\u{e0100}'..='\u{e010f}' => is_han(last),
        '\u{180b}'..='\u{180d}' | '\u{180f}' => matches!(last, '\u{1820}'..='\u{18aa}'),
        _ => false,
    }
}

/// The role of a character when words are compared.
pub(super) enum Folded {
    /// Ignored, because it occurs on, in or between letters.
    Nothing,
    /// Not part of a word. The words around it are this many steps further apart.
    Gap(u8),
    /// Part of a word.
    Letter(u32),
    /// A word of a script without spaces, with the character before.
    Ideograph(u32),
}

/// The folded forms of the characters that most words consist of: a letter, [`NOTHING`], or 0 for a gap.
static FOLDED: [u16; 0x600] = {
    let mut folded = [0; 0x600];
    let mut code = 0;
    while code < folded.len() {
        folded[code] = match code {
            0x300..=0x36f | 0x483..=0x489 => NOTHING,
            0..=0xa9 | 0xab..=0xb4 | 0xb6..=0xb9 | 0xbb..=0xbf | 0xd7 | 0xf7 => 0,
            _ => fold_letter(lower(code as u32)) as u16,
        };
        code += 1;
    }
    folded
};
const NOTHING: u16 = 1;

/// Returns a letter of these scripts in lower case.
const fn lower(code: u32) -> u32 {
    match code {
        0xc0..=0xde | 0x391..=0x3a9 | 0x410..=0x42f => code + 0x20,
        0x386 => 0x3ac,
        0x388..=0x38a => code + 0x25,
        0x38c => 0x3cc,
        0x38e | 0x38f => code + 0x3f,
        0x400..=0x40f => code + 0x50,
        0x460..=0x481 | 0x48a..=0x4bf | 0x4d0..=0x52f => code | 1,
        0x531..=0x556 => code + 0x30,
        _ => code,
    }
}

/// Folds a character above U+007F: case, width, accents, and letters that look like Latin ones.
#[inline]
pub(super) fn fold(code: u32) -> Folded {
    if let Some(folded) = FOLDED.get(code as usize) {
        return match *folded {
            0 => Folded::Gap(0),
            NOTHING => Folded::Nothing,
            letter => Folded::Letter(u32::from(letter)),
        };
    }
    match code {
        // Checks the most frequent characters first.
        0x3400..=0x4dbf | 0x4e00..=0x9fff | 0x3041..=0x30ff | 0x3005..=0x3007 | 0xf900..=0xfaff | 0x20000..=0x3fffd => {
            Folded::Ideograph(code)
        }
        0xac00..=0xd7a3 => Folded::Letter(code),
        _ => fold_rare(code),
    }
}

fn fold_rare(code: u32) -> Folded {
    match code {
        0x640
        | 0x64b..=0x65f
        | 0x670
        | 0x1ab0..=0x1aff
        | 0x1dc0..=0x1dff
        | 0x200c
        | 0x200d
        | 0x20d0..=0x20ff
        | 0x302a..=0x302f
        | 0xfe00..=0xfe0f
        | 0xfe20..=0xfe2f
        | 0xe0100..=0xe01ef => Folded::Nothing,
        0x3002 | 0xff01 | 0xff0e | 0xff1f | 0xff1b | 0x61f | 0x6d4 | 0x964 | 0x2026 => Folded::Gap(6),
        0xff10..=0xff5a => match (code - 0xfee0) as u8 {
            letter @ (b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z') => {
                Folded::Letter(u32::from(letter.to_ascii_lowercase()))
            }
            _ => Folded::Gap(0),
        },
        0x1d400..=0x1d6a3 => latin((code - 0x1d400) % 26),
        0x1d7ce..=0x1d7ff => Folded::Letter(u32::from(b'0') + (code - 0x1d7ce) % 10),
        0x249c..=0x24b5 => latin(code - 0x249c),
        0x24b6..=0x24e9 => latin((code - 0x24b6) % 26),
        0x1f110..=0x1f129 => latin(code - 0x1f110),
        0x1f130..=0x1f149 => latin(code - 0x1f130),
        0x1f150..=0x1f169 => latin(code - 0x1f150),
        0x1f170..=0x1f189 => latin(code - 0x1f170),
        0x1f1e6..=0x1f1ff => latin(code - 0x1f1e6),
        0x2071 | 0x207f | 0x2090..=0x209c | 0x2100..=0x214f | 0x2c7c | 0x2c7d => Folded::Letter(fold_letter(code)),
        0x60c
        | 0x61b
        | 0x965
        | 0x2000..=0x2fff
        | 0x3000..=0x3004
        | 0x3008..=0x3040
        | 0xe000..=0xf8ff
        | 0xfe10..=0xfe6f
        | 0xff00..=0xff65
        | 0xfff0..=0xffff
        | 0x1f000..=0x1fbff
        | 0xe0000.. => Folded::Gap(0),
        _ => Folded::Letter(fold_letter(code)),
    }
}

fn latin(index: u32) -> Folded {
    Folded::Letter(u32::from(b'a') + index)
}

/// Folds a letter in lower case: removes accents, and replaces letters that look like Latin ones. Words of the
/// vocabulary are folded with it at compile time.
pub(super) const fn fold_letter(code: u32) -> u32 {
    // The letters from U+00E0 on, from U+0100 on, and from U+1E00 on, without their accents.
    const LATIN_1: &[u8; 32] = b"aaaaaaaceeeeiiiidnooooo/ouuuuyty";
    const EXTENDED_A: &[u8; 128] =
        b"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkkllllllllllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";
    const ADDITIONAL: &[u8; 256] = b"aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwyassssdaaaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyyllvvyy";
    let looks_like = match code {
        0..=0x7f => return code,
        0xaa => b'a',
        0xb5 => return code,
        0xba => b'o',
        0xdf => b's',
        0xe0..=0xff => LATIN_1[(code - 0xe0) as usize],
        0x100..=0x17f => EXTENDED_A[(code - 0x100) as usize],
        0x1e00..=0x1eff => ADDITIONAL[(code - 0x1e00) as usize],
        // Cyrillic.
        0x430 => b'a',
        0x432 => b'b',
        0x435 | 0x450 | 0x451 => b'e',
        0x43a => b'k',
        0x43c => b'm',
        0x43d => b'h',
        0x43e => b'o',
        0x440 => b'p',
        0x441 => b'c',
        0x442 => b't',
        0x443 | 0x4af => b'y',
        0x445 => b'x',
        0x455 => b's',
        0x456 | 0x457 => b'i',
        0x458 => b'j',
        0x475 => b'v',
        0x4bb => b'h',
        0x501 => b'd',
        0x51b => b'q',
        0x51d => b'w',
        // Greek.
        0x3ac | 0x3b1 => b'a',
        0x3b2 => b'b',
        0x3ad | 0x3b5 => b'e',
        0x3b6 => b'z',
        0x3ae | 0x3b7 => b'n',
        0x3af | 0x3b9 | 0x3ca => b'i',
        0x3ba => b'k',
        0x3bd => b'v',
        0x3cc | 0x3bf => b'o',
        0x3c1 => b'p',
        0x3c4 => b't',
        0x3cd | 0x3c5 => b'u',
        0x3c7 => b'x',
        0x3b3 => b'y',
        0x3ce | 0x3c9 => b'w',
        // Armenian.
        0x585 => b'o',
        0x57d => b'u',
        0x570 => b'h',
        0x578 => b'n',
        // Letters of phonetic alphabets, small capitals, raised and lowered ones.
        0x251 | 0x1d00 | 0x1d43 | 0x2090 | 0x1d2c => b'a',
        0x299 | 0x1d2e | 0x1d47 => b'b',
        0x1d04 | 0x1d9c => b'c',
        0x1d05 | 0x1d48 | 0x1d30 => b'd',
        0x1d07 | 0x1d49 | 0x2091 | 0x1d31 => b'e',
        0xa730 | 0x1da0 => b'f',
        0x261 | 0x262 | 0x1d4d | 0x1d33 => b'g',
        0x29c | 0x2b0 | 0x1d34 | 0x2095 => b'h',
        0x269 | 0x26a | 0x2071 | 0x1d62 | 0x1d35 => b'i',
        0x1d0a | 0x2b2 | 0x2c7c | 0x1d36 => b'j',
        0x1d0b | 0x1d4f | 0x2096 | 0x1d37 => b'k',
        0x29f | 0x2e1 | 0x2097 | 0x1d38 => b'l',
        0x1d0d | 0x1d50 | 0x2098 | 0x1d39 => b'm',
        0x274 | 0x207f | 0x2099 | 0x1d3a => b'n',
        0x1d0f | 0x1d52 | 0x2092 | 0x1d3c => b'o',
        0x1d18 | 0x1d56 | 0x209a | 0x1d3e => b'p',
        0x280 | 0x2b3 | 0x1d63 | 0x1d3f => b'r',
        0xa731 | 0x2e2 | 0x209b => b's',
        0x1d1b | 0x1d57 | 0x209c | 0x1d40 => b't',
        0x1d1c | 0x1d58 | 0x1d64 | 0x1d41 => b'u',
        0x1d20 | 0x1d5b | 0x1d65 | 0x2c7d => b'v',
        0x1d21 | 0x2b7 | 0x1d42 => b'w',
        0x2e3 | 0x2093 => b'x',
        0x28f | 0x2b8 => b'y',
        0x1d22 | 0x1dbb => b'z',
        // Letterlike symbols.
        0x2102 | 0x212d => b'c',
        0x210a => b'g',
        0x210b..=0x210f => b'h',
        0x2110 | 0x2111 | 0x2139 => b'i',
        0x2112 | 0x2113 => b'l',
        0x2115 => b'n',
        0x2118 | 0x2119 => b'p',
        0x211a => b'q',
        0x211b..=0x211d => b'r',
        0x2124 | 0x2128 => b'z',
        0x212c => b'b',
        0x212e..=0x2130 => b'e',
        0x2131 => b'f',
        0x2133 => b'm',
        0x2134 => b'o',
        _ => return code,
    };
    looks_like as u32
}
