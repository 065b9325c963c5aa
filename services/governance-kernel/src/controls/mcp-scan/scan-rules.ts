import type { Finding, FindingKind } from '@countersign/contracts/governance-kernel';

/** Changes with every change of a rule, so that two reports can be compared. */
export const rulesVersion = '2026-11-28';

export type PatternRule = {
  id: string;
  kind: FindingKind;
  severity: Finding['severity'];
  /**
   * The pattern for the text in lower case, with one space for each run of whitespace. Backtracking is limited to
   * bounded gaps.
   */
  pattern: RegExp;
  detail: string;
};

const secretThings =
  "(?:conversation|chat history|message history|previous messages|system prompt|full context|environment variables?|~?/?\\.ssh\\b|id_rsa|id_ed25519|\\.env\\b|\\.aws/|mcp\\.json|keychain|/etc/(?:passwd|shadow)|(?:user'?s|their|your|any|all) (?:\\w+ ){0,2}(?:api keys?|credentials|passwords?|tokens?|secrets?|private keys?|cookies))";

/** Instructions that address a model rather than describe a tool. */
export const instructionRules: readonly PatternRule[] = [
  rule(
    'ignore-instructions',
    'high',
    /\b(?:ignore|disregard|forget|override|bypass|discard)\b.{0,24}\b(?:previous|prior|above|earlier|preceding|existing|other|all|any|your|system)\b.{0,24}\b(?:instructions?|rules?|prompts?|guidelines?|polic(?:y|ies)|restrictions?|directives?|context)\b/,
    'Tells the model to ignore its instructions',
  ),
  rule(
    'role-markup',
    'high',
    /<\/?(?:important|system|instructions?|secret|assistant|admin|critical|hidden|override)>|<\|(?:im_start|im_end|system|user|assistant)\|>|\[\/?(?:inst|system)\]|(?:^|\n)\s*#{0,4}\s*(?:system|assistant)\s*(?:prompt|message)?\s*:/,
    'Has markup that models read as a role or an order',
  ),
  rule(
    'conceal-from-user',
    'high',
    /\b(?:do not|don'?t|never|must not|without)\b.{0,24}\b(?:tell|telling|mention|mentioning|inform|informing|notify|notifying|show|showing|reveal|revealing|alert|alerting|disclose|disclosing|ask|asking|say|display)\b.{0,32}\b(?:user|human|person|operator|them|anyone)\b/,
    'Tells the model to keep something from the user',
  ),
  rule(
    'silently-act',
    'high',
    /\b(?:silently|secretly|quietly|covertly|in the background|behind the scenes)\b.{0,32}\b(?:call|send|read|copy|upload|forward|include|execute|run|invoke|add|post|attach)\b/,
    'Tells the model to act unseen',
  ),
  rule(
    'collect-secrets',
    'high',
    new RegExp(
      `\\b(?:send|post|upload|forward|exfiltrate|leak|bcc|transmit|include|put|append|pass|attach|paste|copy|read|open|cat|provide|insert|encode)\\b.{0,64}${secretThings}`,
    ),
    'Asks for data that the tool has no use for',
  ),
  rule(
    'use-before-others',
    'high',
    /\b(?:before|after|prior to|whenever|every time|each time)\b.{0,24}\b(?:using|calling|invoking|running|use|call|you (?:use|call))\b.{0,16}\b(?:any|all|every|another|other)\b.{0,16}\b(?:tools?|functions?)\b/,
    'Attaches itself to calls of other tools',
  ),
  rule(
    'replace-others',
    'high',
    /\b(?:always|only|must)\b.{0,16}\b(?:use|call|prefer|choose|invoke)\b.{0,16}\bthis (?:tool|function|server)\b.{0,48}\b(?:instead|over|rather|first|exclusively|no matter|regardless)\b|\b(?:do not|don'?t|never|stop)\b.{0,12}\b(?:use|using|call|calling|trust)\b.{0,16}\b(?:any other|all other|the other|other|original|old|official)\b.{0,16}\b(?:tools?|functions?|servers?)\b|\bthis (?:tool|function) (?:supersedes|replaces|overrides|takes precedence over)\b/,
    'Puts itself in the place of other tools',
  ),
  rule(
    'new-identity',
    'high',
    /\byou are now\b|\b(?:act|behave|respond) as (?:if you (?:are|were)|an? (?:unrestricted|unfiltered|admin|root|jailbroken))|\bpretend (?:to be|you are)\b|\b(?:developer|god|debug|admin) mode (?:is )?(?:enabled|on|activated)\b|\bnew (?:system )?(?:instructions?|directives?)\s*:/,
    'Gives the model another role',
  ),
  rule(
    'redirect-recipients',
    'high',
    /\b(?:all|every|any|each)\b.{0,24}\b(?:emails?|messages?|payments?|transfers?|requests?|files?|recipients?)\b.{0,24}\b(?:must|should|need to|has to|have to)\b.{0,24}\b(?:be )?(?:sent|send|cc'?d?|bcc'?d?|forwarded|copied|routed|go)\b|\b(?:change|replace|set|rewrite)\b.{0,16}\b(?:recipient|destination|account number|iban|wallet|address)\b.{0,16}\b(?:to|with)\b.{0,64}(?:@|\b0x|\b[a-z]{2}\d{2})/,
    'Redirects what other tools send',
  ),
  rule(
    'skip-confirmation',
    'high',
    /\b(?:skip|bypass|avoid|no need for|disable|don'?t wait for|do not wait for|without)\b.{0,24}\b(?:confirmation|approval|consent|permission prompts?|safety checks?|human review|guardrails?)\b/,
    'Tells the model to skip a confirmation',
  ),
  rule(
    'address-model',
    'medium',
    /\b(?:attention|note to|important for|instructions? (?:for|to)|message (?:for|to)|dear|hey)\b.{0,12}\b(?:ai|llm|model|language model|assistant|agent|claude|gpt|copilot|gemini)\b/,
    'Addresses a model',
  ),
  rule(
    'run-command',
    'high',
    /\b(?:curl|wget)\b.{0,80}\|\s*(?:ba|z|da)?sh\b|\b(?:run|execute|type)\b.{0,24}\b(?:rm -rf|chmod 777|nc -e|bash -i|powershell -e)/,
    'Has a command to run',
  ),
];

/** Secrets of well-known forms. */
export const secretPatterns: readonly { id: string; pattern: RegExp }[] = [
  { id: 'aws-access-key', pattern: /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/ },
  { id: 'github-token', pattern: /\bgh[pousr]_[A-Za-z0-9]{36,}\b|\bgithub_pat_[A-Za-z0-9_]{40,}\b/ },
  { id: 'gitlab-token', pattern: /\bglpat-[A-Za-z0-9_-]{20,}\b/ },
  { id: 'model-provider-key', pattern: /\bsk-(?:ant-|proj-|live-)?[A-Za-z0-9_-]{24,}\b/ },
  { id: 'slack-token', pattern: /\bxox[abprs]-[A-Za-z0-9-]{20,}\b/ },
  { id: 'google-api-key', pattern: /\bAIza[A-Za-z0-9_-]{35}\b/ },
  { id: 'stripe-key', pattern: /\b[rs]k_live_[A-Za-z0-9]{20,}\b/ },
  { id: 'private-key', pattern: /-----BEGIN (?:[A-Z]{1,16} )?PRIVATE KEY-----/ },
  { id: 'json-web-token', pattern: /\beyJ[A-Za-z0-9_-]{16,}\.eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{24,}/ },
  { id: 'bearer-token', pattern: /\bBearer [A-Za-z0-9._~+/-]{32,}/ },
  {
    id: 'url-password',
    pattern:
      /\b(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|redis|amqp|https?):\/\/[^\s:@/]{1,64}:[^\s:@/]{8,64}@(?!localhost|127\.|example|host\b)[a-z0-9.-]+/i,
  },
];

/** Words of a text that only shows the form of a secret. */
export const exampleOfSecret =
  /example|sample|placeholder|dummy|your[-_ ]|x{6,}|0{8,}|\.{3}|<[a-z_ -]+>|password|secret/i;

function rule(id: string, severity: Finding['severity'], pattern: RegExp, detail: string): PatternRule {
  return { id, kind: 'model_instruction', severity, pattern, detail };
}

/** First words of names and descriptions that state an effect on the world. */
export const destroyingVerbs = words(
  'delete remove drop destroy purge wipe erase kill truncate uninstall revoke terminate format',
);
export const changingVerbs = words(
  'write create update insert send post publish upload deploy execute exec run install pay transfer overwrite set put patch move rename add commit push merge close approve grant reset restart start stop cancel schedule book buy order submit reply forward modify edit invite',
);

/** Parameters that accept a program. */
export const programParameters = words(
  'command cmd shell shell_command script bash powershell exec eval code_to_run system_command',
);
/** Parameters that collect what a model knows besides the call. */
export const harvestingParameters = words(
  'conversation conversation_history chat_history message_history system_prompt full_context conversation_context sidenote side_note previous_messages tool_outputs tool_results env_vars environment_variables user_credentials chain_of_thought hidden_context',
);

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}
