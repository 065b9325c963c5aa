import type { Finding } from '@countersign/contracts/governance-kernel';

type Hidden = Pick<Finding, 'rule' | 'detail' | 'severity'>;

/** A regional flag is a black flag followed by the letters of the region as tags. */
const regionFlags = /\u{1f3f4}[\u{e0061}-\u{e007a}\u{e0030}-\u{e0039}]{2,6}\u{e007f}/gu;
const tags = /[\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}]/u;
const overrides = /[\u202a-\u202e\u2066-\u2069]/;
const invisible = /[\u200b\u2060-\u2064\ufeff\u180e\u00ad\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]/;
/** Joiners are legitimate between emoji and within some scripts, and direction marks next to right-to-left letters. */
const joiners =
  /(?<![\p{Extended_Pictographic}\ufe0f\u{1f3fb}-\u{1f3ff}\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Mark}])[\u200c\u200d]/u;
const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;
const directionMarks = /[\u200e\u200f\u061c]/;
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
const gap = /\n(?:[ \t]*\n){14}|[ \t\u00a0\u2000-\u200a\u3000]{80}/;
const comment = /<!--[^]{0,2000}?-->|\[\/\/\]: # \(/;

const checks: readonly (Hidden & { holds(text: string): boolean })[] = [
  {
    rule: 'tag-characters',
    severity: 'high',
    detail: 'Has tag characters, which spell text that no reader sees',
    holds: (text) => tags.test(text),
  },
  {
    rule: 'direction-overrides',
    severity: 'high',
    detail: 'Has characters that show the text in a different order than a model reads it',
    holds: (text) => overrides.test(text),
  },
  {
    rule: 'invisible-characters',
    severity: 'high',
    detail: 'Has characters that no reader sees',
    holds: (text) => invisible.test(text) || joiners.test(text),
  },
  {
    rule: 'direction-marks',
    severity: 'medium',
    detail: 'Has direction marks in a text that does not need them',
    holds: (text) => directionMarks.test(text) && !rightToLeft.test(text),
  },
  {
    rule: 'control-characters',
    severity: 'high',
    detail: 'Has control characters, which a terminal obeys',
    holds: (text) => controls.test(text),
  },
  {
    rule: 'far-below',
    severity: 'medium',
    detail: 'Has a gap that moves the following text out of view',
    holds: (text) => gap.test(text),
  },
  {
    rule: 'comment',
    severity: 'medium',
    detail: 'Has a comment, which a page does not show',
    holds: (text) => comment.test(text),
  },
];

/** The parts of a text that a model reads and a person does not see. */
export function hiddenIn(text: string): Hidden[] {
  const shown = text.replaceAll(regionFlags, '').replace(/^\ufeff/, '');
  return checks.filter(({ holds }) => holds(shown)).map(({ rule, severity, detail }) => ({ rule, severity, detail }));
}
