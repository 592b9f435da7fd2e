//! The words that identify secrets and instructions, in lower case. Two ideographs are a word.

use super::services;

macro_rules! roles {
    ($($name:ident)*) => { roles!(@ 0, $($name)*); };
    (@ $bit:expr, $name:ident $($rest:ident)*) => {
        pub(super) const $name: u64 = 1 << ($bit);
        roles!(@ $bit + 1, $($rest)*);
    };
    (@ $bit:expr,) => {};
}

roles! {
    IGNORE BYPASS IGNORE_LAST PRIOR ALL YOUR OBJECT EVERYTHING ABOVE NOT FOLLOW
    NEW TASK IS REAL INSTRUCTION
    YOU ARE NOW PERSONA FROM ON MUST PRETEND BE MODE JAILBREAK NO LONGER BOUND NOW_FOREIGN YOU_FOREIGN
    PERSON APPROVED AGREED ALREADY BY APPROVAL GRANTED NEEDED WITHOUT ASKING
    CALL USE TOOL
    REVEAL SYSTEM PROMPT SEND SENSITIVE CONVERSATION TO
    TELL THE
    IF MODEL NOTE
    MARK NEXT
    KEY KEY_PART PREFIX BEARER
    CONDITION
}

/// The roles that lead to a rule, a mark or a secret. Most words with a role have none of these.
pub(super) const LEADS: u64 = IGNORE
    | BYPASS
    | PRIOR
    | YOUR
    | NOT
    | NEW
    | REAL
    | YOU
    | FROM
    | PRETEND
    | JAILBREAK
    | NO
    | NOW_FOREIGN
    | YOU_FOREIGN
    | PERSON
    | APPROVED
    | ALREADY
    | APPROVAL
    | WITHOUT
    | CALL
    | USE
    | REVEAL
    | SEND
    | IF
    | NOTE
    | MARK
    | KEY
    | PREFIX
    | BEARER
    | CONDITION;

/// Words with their roles. A word may be in several lines.
pub(super) const VOCABULARY: &[(u64, &str)] = &[
    // Words that demand to ignore something, in English, Spanish, Portuguese, French, Italian, German, Russian, Chinese
    // and Arabic.
    (IGNORE, "ignore disregard forget"),
    (IGNORE, "ignora ignorad ignoren olvida olvide olvidad omite descarta desestima"),
    (IGNORE, "esqueça esquece desconsidere desconsidera descarte"),
    (IGNORE, "ignorez oublie oubliez ignorer oublier"),
    (IGNORE, "dimentica ignorate dimenticate trascura"),
    (IGNORE, "ignoriere ignorier ignoriert ignorieren vergiss vergesst vergessen missachte"),
    (IGNORE, "игнорируй игнорируйте проигнорируй проигнорируйте забудь забудьте игнорировать"),
    (IGNORE, "忽略 无视 無視 忘记 忘記 忽视 忽視 别管 不管"),
    (IGNORE, "تجاهل انس"),
    (BYPASS, "override bypass discard skip overrule"),
    // Languages in which the verb comes last: German, Japanese, Korean, Hindi.
    (IGNORE_LAST, "ignorieren vergessen missachten 無視 忘れ 무시하고 무시하세요 무시해 무시해라 अनदेखा नज़रअंदाज़ भूल"),
    (PRIOR, "previous prior above earlier preceding foregoing former preceeding previously past"),
    (PRIOR, "anterior anteriores previas previos previa previo precedentes antes"),
    (PRIOR, "anteriormente prévias prévios acima"),
    (PRIOR, "précédent précédente précédents précédentes antérieures ci dessus"),
    (PRIOR, "precedenti precedente sopra"),
    (PRIOR, "vorherigen vorherige vorigen bisherigen bisherige obigen obige früheren vorangegangenen vorhergehenden"),
    (PRIOR, "предыдущие предыдущих прежние прошлые вышеуказанные предшествующие предыдущую"),
    (PRIOR, "之前 以上 上面 先前 前面 此前 上述 以前 前の 上記 まで"),
    (PRIOR, "السابقة السابقه أعلاه"),
    (PRIOR, "이전 이전의 위의 앞선 पिछले पिछली पूर्व उपरोक्त"),
    (ALL, "all any every each todas todos toutes tous alle tutte все всё 所有 全部 全て すべ 一切 모든 جميع सभी"),
    (YOUR, "your system initial original safety tus sus suas tes vos deine ihre твои ваши 你的 您的"),
    (
        OBJECT,
        "instructions instruction rules prompts prompt guidelines guideline directives directive directions commands",
    ),
    (OBJECT, "constraints restrictions orders policies safeguards guardrails programming"),
    (OBJECT, "instrucciones instrucción reglas órdenes indicaciones directrices"),
    (OBJECT, "instruções instrução regras ordens diretrizes"),
    (OBJECT, "consignes règles ordres directives"),
    (OBJECT, "istruzioni regole ordini"),
    (OBJECT, "anweisungen anweisung instruktionen befehle regeln vorgaben"),
    (OBJECT, "инструкции инструкций указания команды правила инструкцию"),
    (OBJECT, "指令 指示 说明 說明 命令 规则 規則 提示 要求 约束 ルー"),
    (OBJECT, "التعليمات الأوامر القواعد"),
    (OBJECT, "지시 지시를 지시사항을 지침 지침을 명령 명령을 निर्देश निर्देशों नियम नियमों"),
    (EVERYTHING, "everything anything todo tudo tout alles всё"),
    (ABOVE, "above before previously earlier learned told know said anterior acima oben precede précède раньше"),
    (NOT, "not never dont"),
    (FOLLOW, "follow obey heed"),
    (NEW, "new updated"),
    (TASK, "task goal objective mission role instructions instruction job purpose"),
    (IS, "is are follow follows"),
    (REAL, "real actual true"),
    (INSTRUCTION, "instructions instruction"),
    // Another role.
    (YOU, "you"),
    (ARE, "are re"),
    (NOW, "now"),
    (FROM, "from"),
    (ON, "on"),
    (MUST, "must shall act respond answer obey are should do"),
    (PERSONA, "assistant ai bot chatbot agent model llm admin administrator hacker expert root terminal interpreter"),
    (PERSONA, "character persona pirate dan unrestricted unfiltered uncensored jailbroken attacker superuser mode"),
    (
        PERSONA,
        "asistente administrador hacker pirata modelo modo ia assistente modelo assistent assistente ki piraten modus",
    ),
    (
        PERSONA,
        "ассистент администратор хакер помощник бот режиме 助手 黑客 管理 模型 机器 海盗 助理 管理 アシ 海賊 ハッ",
    ),
    (PRETEND, "pretend roleplay"),
    (BE, "be you"),
    (JAILBREAK, "dan god jailbreak jailbroken"),
    (MODE, "mode"),
    (NO, "no"),
    (LONGER, "longer"),
    (BOUND, "bound restricted constrained limited required subject an a"),
    (NOW_FOREIGN, "ahora agora maintenant désormais jetzt nun adesso теперь 现在 現在 今か"),
    (YOU_FOREIGN, "eres tu vous du você sei ты вы 你现 你現 您现 现在 あな"),
    // Approvals.
    (PERSON, "user owner admin administrator operator oncall manager supervisor human boss ceo security"),
    (
        PERSON,
        "usuario utilisateur benutzer nutzer usuário utente пользователь пользователем 用户 用戶 ユー 사용자가 المستخدم",
    ),
    (
        APPROVED,
        "approved consented aprobó aprobado aprobada autorizó autorizado approuvé autorisé genehmigt zugestimmt",
    ),
    (
        APPROVED,
        "freigegeben aprovou aprovado autorizou approvato одобрил подтвердил разрешил одобрено 批准 同意 承認 승인",
    ),
    (AGREED, "approved authorized authorised confirmed granted agreed consented"),
    (ALREADY, "already"),
    (BY, "by por par von pelo pela da 由"),
    (APPROVAL, "approval confirmation consent"),
    (GRANTED, "granted given obtained received"),
    (NEEDED, "needed required necessary"),
    (WITHOUT, "without"),
    (ASKING, "asking waiting"),
    // Demands.
    (CALL, "call invoke"),
    (USE, "use run execute"),
    (TOOL, "tool tools"),
    (REVEAL, "reveal print show repeat output display leak disclose expose"),
    (SYSTEM, "system hidden initial"),
    (PROMPT, "prompt prompts instructions"),
    (SEND, "send forward email post upload exfiltrate leak transmit"),
    (SENSITIVE, "credentials credential secrets passwords password keys tokens cookies"),
    (CONVERSATION, "conversation transcript chat history"),
    (TO, "to"),
    (TELL, "tell inform mention notify alert warn reveal disclose"),
    (TELL, "telling informing notifying alerting"),
    (THE, "the this your"),
    (IF, "if"),
    // Words that make an approval a condition, or a rule.
    (CONDITION, "if whether unless when once until after before where which that wenn falls sobald si cuando quand se"),
    (MODEL, "ai llm chatbot assistant agent gpt claude copilot gemini"),
    (NOTE, "note attention dear hey message instructions notice"),
    // Marks of roles, and words after one that addresses a model.
    (MARK, "inst sys system assistant developer human instruction response start end tool function invoke"),
    (NEXT, "you the ignore disregard do please always never from override approval approved all user your"),
    // Names before secrets.
    (KEY, "password passwd passphrase pwd dbpassword userpassword adminpassword pgpassword"),
    (KEY, "secret secretkey secretaccesskey clientsecret apikey apisecret appsecret accesskey accountkey"),
    (KEY, "sharedaccesskey privatekey signingkey encryptionkey token accesstoken authtoken apitoken refreshtoken"),
    (KEY, "sessiontoken bearertoken bottoken idtoken secrettoken authorization sig key"),
    (
        KEY_PART,
        "api access secret private account signing encryption auth refresh session bearer bot id aws client shared",
    ),
    (PREFIX, services::WORDS),
    (PREFIX, "begin"),
    (PREFIX, services::SERVICES),
    (BEARER, "bearer basic"),
];
