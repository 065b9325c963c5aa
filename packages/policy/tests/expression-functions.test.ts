import { describe, expect, it } from '@jest/globals';
import { evaluateRules } from '../src/index.ts';
import { functions, methods } from '../src/expression-syntax.ts';
import { frozenNow, intentOf, policyOf } from './situation.ts';

/**
 * A condition that is true, for each function and method that a rule may call. The keys are name and number of
 * arguments.
 */
const examples: Record<string, string> = {
  'has/1': 'has(args.text)',
  'size/1': 'size(args.list) == 3',
  'int/1': 'int("7") == 7',
  'uint/1': 'uint("7") == 7u',
  'double/1': 'double("0.5") == 0.5',
  'string/1': 'string(7) == "7"',
  'bool/1': 'bool("true")',
  'dyn/1': 'dyn(args.text) == "a-b-a"',
  'timestamp/1': 'timestamp("2026-03-01T13:00:00+01:00") == now && timestamp(1772366400) == now',
  'duration/1': 'duration("60s") == duration("1m")',
  'size/0': 'args.text.size() == 5',
  'matches/1': 'args.text.matches("^a.b")',
  'startsWith/1': 'args.text.startsWith("a-")',
  'endsWith/1': 'args.text.endsWith("-a")',
  'contains/1': 'args.text.contains("b")',
  'lowerAscii/0': '"aB".lowerAscii() == "ab"',
  'upperAscii/0': '"aB".upperAscii() == "AB"',
  'trim/0': '" a ".trim() == "a"',
  'indexOf/1': 'args.text.indexOf("a") == 0',
  'indexOf/2': 'args.text.indexOf("a", 1) == 4',
  'lastIndexOf/1': 'args.text.lastIndexOf("a") == 4',
  'lastIndexOf/2': 'args.text.lastIndexOf("a", 3) == 0',
  'substring/1': 'args.text.substring(2) == "b-a"',
  'substring/2': 'args.text.substring(2, 3) == "b"',
  'split/1': 'args.text.split("-") == ["a", "b", "a"]',
  'split/2': 'args.text.split("-", 2) == ["a", "b-a"]',
  'join/0': '["a", "b"].join() == "ab"',
  'join/1': '["a", "b"].join("-") == "a-b"',
  'getFullYear/0': 'now.getFullYear() == 2026',
  'getMonth/0': 'now.getMonth() == 2',
  'getDate/0': 'now.getDate() == 1',
  'getDayOfMonth/0': 'now.getDayOfMonth() == 0',
  'getDayOfWeek/0': 'now.getDayOfWeek() == 0',
  'getHours/0': 'now.getHours() == 12',
  'getMinutes/0': 'now.getMinutes() == 0',
  'getSeconds/0': 'now.getSeconds() == 0',
  'getMilliseconds/0': 'now.getMilliseconds() == 0',
  'all/2': 'args.list.all(x, x > 0)',
  'exists/2': 'args.list.exists(x, x == 2)',
  'exists_one/2': 'args.list.exists_one(x, x == 2)',
  'map/2': 'args.list.map(x, x + 1.0) == [2.0, 3.0, 4.0]',
  'map/3': 'args.list.map(x, x > 1, x + 1.0) == [3.0, 4.0]',
  'filter/2': 'args.list.filter(x, x > 1) == [2, 3]',
};

describe('the functions that a rule may call', () => {
  it.each(Object.entries(examples))('%s: %s', (_name, when) => {
    const policy = policyOf([{ id: 'r', effect: 'allow', when }]);
    const intent = intentOf({ args: { text: 'a-b-a', list: [1, 2, 3] } });
    expect(evaluateRules(policy, intent, { now: frozenNow, relations: {} })).toMatchObject({ kind: 'allow' });
  });

  it('each have an example in this test', () => {
    expect(Object.keys(examples).sort()).toEqual([...functions, ...methods].sort());
  });

  it.each([
    'timestamp("x2026-03-01T13:00:00Z")',
    'timestamp("2026-03-01T13:00:00Zx")',
    'timestamp("2026-03-01T13:00:00")',
    'timestamp("2026-03-01 13:00:00Z")',
    'timestamp("2026-13-01T13:00:00Z")',
    'timestamp(-1)',
    'timestamp(253402300800)',
  ])('reject %s as a time', (time) => {
    const policy = policyOf([{ id: 'r', effect: 'allow', when: `${time} != now` }]);
    expect(evaluateRules(policy, intentOf(), { now: frozenNow, relations: {} })).toMatchObject({
      ...{ kind: 'deny', code: 'POLICY_EVALUATION_ERROR' },
    });
  });

  it('read times up to the last second of RFC 3339', () => {
    const when =
      'timestamp(0) < now && timestamp(253402300799) > now && timestamp("2026-03-01T11:00:00.5-01:00") > now';
    const policy = policyOf([{ id: 'r', effect: 'allow', when }]);
    expect(evaluateRules(policy, intentOf(), { now: frozenNow, relations: {} })).toMatchObject({ kind: 'allow' });
  });
});
