import { describe, expect, it } from '@jest/globals';
import { evaluateRules } from '../src/index.ts';
import { frozenNow, intentOf, policyOf } from './situation.ts';

/** The result of a rule for a value of the call: `allow`, or the code of the denial. */
function holds(when: string, args: object): string {
  const policy = policyOf([{ id: 'r', effect: 'allow', when }]);
  const outcome = evaluateRules(policy, intentOf({ args: args as never }), { now: frozenNow, relations: {} });
  return outcome.kind === 'deny' ? outcome.code : outcome.kind;
}

const isRead = (text: string) => holds('timestamp(args.at) == timestamp(args.at)', { at: text }) === 'allow';

describe('a timestamp', () => {
  it.each([
    '2026-03-01T12:00:00Z',
    '2026-03-01T12:00:00.5Z',
    '2026-03-01T12:00:00.123456789Z',
    '2026-03-01T12:00:00+01:00',
    '2026-03-01T12:00:00-11:30',
  ])('is accepted: %s', (text) => {
    expect(isRead(text)).toBe(true);
  });

  it.each([
    '2026-03-01T12:00:00',
    '2026-03-01',
    '12026-03-01T12:00:00Z',
    '2026-3-01T12:00:00Z',
    '2026-03-1T12:00:00Z',
    '2026-03-01 12:00:00Z',
    '2026-03-01T1:00:00Z',
    '2026-03-01T12:00Z',
    '2026-03-01T12:00:0Z',
    '2026-03-01T12:00:00.Z',
    '2026-03-01T12:00:00.1234567890Z',
    '2026-03-01T12:00:00+1:00',
    '2026-03-01T12:00:00+01:0',
    '2026-03-01T12:00:00+01',
    '2026-03-01T12:00:00 GMT',
    '2026-03-01T12:00:00Z (noon)',
    'on 2026-03-01T12:00:00Z',
    '2026-13-01T12:00:00Z',
    '2026-03-01T25:00:00Z',
    '',
  ])('is rejected: %j', (text) => {
    expect(isRead(text)).toBe(false);
  });

  it('in seconds is between 1970 and the end of 9999', () => {
    const of = (seconds: string) => holds(`timestamp(${seconds}) == timestamp(${seconds})`, {});
    expect(['0', '253402300799'].map(of)).toEqual(['allow', 'allow']);
    expect(['-1', '253402300800'].map(of)).toEqual(Array(2).fill('POLICY_EVALUATION_ERROR'));
    expect(holds('timestamp(86400) == timestamp("1970-01-02T00:00:00Z")', {})).toBe('allow');
  });
});

describe('a duration', () => {
  it.each(['60s', '1h30m', '-1.5h', '+2ms', '1.s', '.5m', '1us2ns', '3µs'])('is accepted: %s', (text) => {
    expect(holds('duration(args.d) == duration(args.d)', { d: text })).toBe('allow');
  });

  it.each(['', '60', 's', '1d', '1h 30m', '--1s', '1s-', '1..5s', '.s', ' 1s', '1s ', `${'1'.repeat(64)}s`])(
    'is rejected: %j',
    (text) => {
      expect(holds('duration(args.d) == duration(args.d)', { d: text })).toBe('POLICY_EVALUATION_ERROR');
    },
  );

  it('may have 64 characters', () => {
    expect(holds('duration(args.d) > duration("0s")', { d: '1s'.repeat(32) })).toBe('allow');
  });
});

describe('a call of a function that has a safe replacement', () => {
  it.each([
    ['action // c matches\n.matches("a") // .\n', 'write matches(…) without a comment before the parenthesis'],
    ['timestamp // c\n("2026-01-01T00:00:00Z") < now', null],
    ['args.a // c\n.contains(args.b)', 'write contains(…) without a comment before the parenthesis'],
  ])('is replaced in its place, or the rule is rejected: %j', (when, message) => {
    const compile = () => policyOf([{ id: 'r', effect: 'allow', when }]);
    if (message === null) expect(compile).not.toThrow();
    else expect(compile).toThrow(message);
  });

  it.each([
    'args.a.contains(args.b)',
    'args.a . contains ( args.b )',
    '(args.a).contains(args.b)',
    '( (args.a) ) .\n contains(args.b)',
    'args.contains.contains(args.b)',
    'args["contains"].contains(args.b) && args.a.matches("^c") && args.a.matches ( "x$" )',
    'args.a.lowerAscii().contains(args.b.trim()) && duration("1s") < duration( "2s" )',
  ])('works with any spacing: %s', (when) => {
    const args = { a: 'contains x', b: 'x', contains: 'x' };
    expect(holds(when, args)).toBe('allow');
    if (!when.includes('&&')) expect(holds(when, { ...args, b: 'y' })).toBe('NO_MATCHING_RULE');
  });
});
