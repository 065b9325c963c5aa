/**
 * Patterns that plain technical English avoids. A rule looks at one sentence; `of` limits it to some kinds of text.
 * @typedef {'comment' | 'string' | 'document'} TextKind
 * @typedef {{ name: string, advice: string, of?: readonly TextKind[], finds: (sentence: string, kind: TextKind) => string | null }} SentenceRule
 */

const sentenceWordsMax = 30;

/** @type {readonly SentenceRule[]} */
export const sentenceRules = [
  {
    name: 'opening',
    advice: 'Begin with the noun that the sentence is about.',
    finds: (sentence, kind) => {
      const opening = /^(Of|By|As|So|What|Whose|Whom|Whoever)\s/.exec(sentence)?.[1] ?? null;
      return opening !== null && (isQuestion(sentence) || isHeading(sentence, kind)) ? null : opening;
    },
  },
  {
    name: 'person',
    advice: 'Name the role: caller, operator, member, approver, another worker.',
    finds: matching(/\b(nobody|somebody|whoever|anybody)('s)?\b/i),
  },
  {
    name: 'dated',
    advice: 'Write "again", "in the meantime", "of which", or two sentences.',
    finds: matching(/\b(anew|meanwhile|whereof|thereof)\b|\bso many\b[^.]*\bas\b/i),
  },
  {
    name: 'long',
    advice: `A sentence has at most ${sentenceWordsMax} words. Make two of it.`,
    of: ['comment', 'document'],
    finds: (sentence) => {
      const words = sentence.split(/\s+/).filter((word) => /[a-z0-9]/i.test(word)).length;
      return words > sentenceWordsMax ? `${words} words` : null;
    },
  },
];

/**
 * A name that is a participle or a pronoun, and a type with such an ending. The names of public members belong to the
 * contract or the table that declares them.
 */
const vagueName = /^#?(asked|told|said|standing|held|given|left|other|known|parts?)$/i;
const vagueType = /^[A-Z]\w*(Asked|Told|Said|Given|Parts)$/;

/**
 * @param {string} name
 * @returns {boolean}
 */
export function isVague(name) {
  return vagueName.test(name) || vagueType.test(name);
}

const subjectLengthMax = 72;

/**
 * @param {string} subject Of a commit.
 * @returns {string | null} What is wrong with it.
 */
export function faultOfSubject(subject) {
  if (subject.length > subjectLengthMax)
    return `has ${subject.length} characters, and ${subjectLengthMax} are the limit`;
  if (subject.split(';').length > 2) return 'has two semicolons: make two commits of it';
  return null;
}

/** @param {string} sentence */
function isQuestion(sentence) {
  return sentence.trimEnd().endsWith('?');
}

/**
 * "What changed" above a list is a heading and not a sentence.
 * @param {string} sentence
 * @param {TextKind} kind
 */
function isHeading(sentence, kind) {
  return kind === 'string' && /^What\s/.test(sentence) && !/[.!:;]/.test(sentence);
}

/** @param {RegExp} pattern */
function matching(pattern) {
  /** @param {string} sentence */
  return (sentence) => pattern.exec(sentence)?.[0] ?? null;
}
