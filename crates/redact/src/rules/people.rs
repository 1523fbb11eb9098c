//! What belongs to people and not to machines.

use crate::rule::Check::{Apart, Digits};
use crate::rule::Rule;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::from("phone", "Telephone number in international form",
        &["+1", "+2", "+3", "+4", "+5", "+6", "+7", "+8", "+9"],
        32, r"\+(?:([1-9]\d{7,14})|([1-9]\d{0,2}\)?(?:[ .-]?\(0\)\d{1,5})?(?:[ .-]\(?\d{1,8}\)?|\(\d{1,5}\)){1,6}))(?:[^\w.=/+-]|[.=/+-]\W|[.-]?\z)").checks(&[Apart, Digits(8, 15)]).chosen()
        .hits(&["call +1415555<d4> today", "tel:+49301234<d4>", "call +1 415 555 0199 now", "phone: +49 30 901820", "+1 (415) 555-0132", "+33 6 12 34 56 78", "+49 (0)30 9018<d4>"])
        .misses(&["+123456", "a+12345678901", "@@ -1,5 +1234,7 @@", "2024-01-01T00:00:00+0100", "1e+10", "+1234567890123456789", "@@ -12,3 +14,5 @@", "a +1 b"]),
    Rule::from("phone-label", "Telephone number beside the word for it",
        &["phone", "mobile", "tel:", "tel.", "cell:", "fax:", "whatsapp", "telefon", "handy:", "rufnummer", "téléphone", "móvil", "celular", "cellulare", "тел", "電話", "电话"],
        64, r#"(?i)[\w\x80-\xff]{2,20}[._ -]?(?:no|nr|number|num)?\.?{q}?[ \t]{0,8}[:=.]?[ \t]{0,8}{q}?((?:\(0?\d{2,5}\)|00?[1-9]\d{0,4}|\d{3})(?:[ /-]{1,3}\d{2,8}){1,5}|0\d{8,13})(?:[^\w./-]|[./-]\W|\z)"#).checks(&[Digits(8, 15)]).chosen()
        .hits(&["mobile: 0041 79 717 36 <d2>", "Tel. (030) 1234-<d4>", "\"phone\": \"079 717 36 <d2>\"", "phone: 415-555-<d4>"])
        .misses(&["mobile: 2024-01-15", "phone: 12", "telephone numbers 10 20 30", "phone: 192.168.100.200"]),
];
