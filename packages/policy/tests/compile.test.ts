import { describe, expect, it } from '@jest/globals';
import { gateOrder } from '@countersign/contracts';
import { bundleBytesMax } from '@countersign/contracts/governance-kernel';
import { evaluateRules, lineOfPath, parsePolicyBundle, PolicyError, wiredGates } from '../src/index.ts';
import { frozenNow, bundleOf, intentOf, policyOf } from './situation.ts';
import { candidateRules } from '../src/rule-index.ts';

const environment = { now: frozenNow, relations: {} };

function readSetOf(when: string): readonly string[] {
  return policyOf([{ id: 'r', effect: 'allow', when }]).readSet;
}

function faultOf(read: () => unknown): PolicyError {
  try {
    read();
  } catch (error) {
    if (error instanceof PolicyError) return error;
    throw error;
  }
  throw new Error('nothing is wrong with it');
}

function holds(when: string, changes = {}): string {
  const outcome = evaluateRules(policyOf([{ id: 'r', effect: 'allow', when }]), intentOf(changes), environment);
  return outcome.kind === 'deny' ? outcome.code : outcome.kind;
}

describe('parsePolicyBundle', () => {
  const head = 'format: countersign/policy.v1\nname: n\nversion: "1"\n';
  const refused: [string, string, string][] = [
    ['an unknown member', `${head}rules: [{id: a, effect: allow, wehn: "true"}]`, 'UNKNOWN_MEMBER'],
    ['two rules with one ID', `${head}rules: [{id: a, effect: allow}, {id: a, effect: deny}]`, 'DUPLICATE_RULE_ID'],
    ['a duplicate YAML key', `${head}rules: []\nrules: []`, 'YAML_REFUSED'],
    ['an alias', `${head}rules: [&a {id: a, effect: allow}, *a]`, 'YAML_REFUSED'],
    ['a lone anchor', `${head}rules: &a []`, 'YAML_REFUSED'],
    ['a tag', `${head}rules: !!set {}`, 'YAML_REFUSED'],
    ['a redundant tag', `${head}rules: !!seq []`, 'YAML_REFUSED'],
    ['a tag without a name', `${head}rules: ! []`, 'YAML_REFUSED'],
    ['an unknown tag', `${head}rules: !mine []`, 'YAML_REFUSED'],
    ['a tag on a text', `${head}rules: [{id: !!str a, effect: allow}]`, 'YAML_REFUSED'],
    ['a tag on a member', `${head}rules: []\n!!str tests: []`, 'YAML_REFUSED'],
    ['a key over two lines', `${head}rules: [a\n  b: {}]`, 'YAML_REFUSED'],
    ['a second document', `${head}rules: []\n---\nrules: []`, 'YAML_REFUSED'],
    ['a duplicate JSON member', '{"format":"countersign/policy.v1","name":"n","name":"m"}', 'MALFORMED_BUNDLE'],
    [
      'names without quotes in JSON',
      ' \n{format: countersign/policy.v1, name: n, version: "1", rules: []}',
      'MALFORMED_BUNDLE',
    ],
    ['a bundle above the limit', `#${'x'.repeat(5_000_000)}`, 'TOO_LARGE'],
    ['excessive nesting', '['.repeat(100_000), 'YAML_REFUSED'],
    ['an empty text', '', 'MALFORMED_BUNDLE'],
  ];
  it.each(refused)('refuses %s', (_what, text, code) => {
    expect(() => parsePolicyBundle(text)).toThrow(expect.objectContaining({ code }));
  });

  it('reads YAML and JSON to the same bundle', () => {
    const yaml = `${head}rules:\n  - id: a\n    effect: deny\n    match: { tool: ["mail.*"] }\n`;
    const json =
      '{"format":"countersign/policy.v1","name":"n","version":"1","rules":[{"id":"a","effect":"deny","match":{"tool":["mail.*"]}}]}';
    expect(parsePolicyBundle(yaml)).toEqual(parsePolicyBundle(json));
  });

  it('reads only YAML 1.2, and does not merge keys', () => {
    const old = `%YAML 1.1\n---\n${head.replace('name: n', 'name: on')}rules: []\n`;
    expect(parsePolicyBundle(old).name).toBe('on');
    const merged = `${head}rules:\n  - <<: { effect: deny }\n    id: a\n    effect: deny\n`;
    expect(faultOf(() => parsePolicyBundle(merged))).toMatchObject({ code: 'UNKNOWN_MEMBER', path: '/rules/0' });
    expect(faultOf(() => parsePolicyBundle(`${head}rules: [`))).toMatchObject({ code: 'YAML_REFUSED', path: '' });
  });

  it.each(['files.*', 'files.rea?'])('rejects the pattern %s as a declared tool, and reports its place', (name) => {
    const text = `${head}rules: []\ntools:\n  files.read: { effect_level: E1 }\n  ${name}: { effect_level: E1 }\n`;
    const fault = faultOf(() => parsePolicyBundle(text));
    expect(fault).toMatchObject({ code: 'MALFORMED_BUNDLE', path: `/tools/${name}` });
    expect(fault.message).toContain(`${name} is a pattern: declare each tool by its full name`);
    expect(lineOfPath(text, fault.path)).toBe(7);
  });

  it('reports the line and the name of a key that is declared twice', () => {
    const text = `${head}rules: []\ntools:\n  close_ticket: {}\n  close_ticket: {}\n`;
    expect(() => parsePolicyBundle(text)).toThrow('line 7: close_ticket is declared twice');
  });

  it('truncates the name of a long key in its message', () => {
    const named = (length: number) => `${head}? ${'k'.repeat(length)}\n: 1\n? ${'k'.repeat(length)}\n: 2\n`;
    expect(() => parsePolicyBundle(named(80))).toThrow(`line 6: ${'k'.repeat(80)} is declared twice`);
    expect(() => parsePolicyBundle(named(81))).toThrow(`line 6: ${'k'.repeat(80)}… is declared twice`);
  });

  it.each<[string, unknown, string, string]>([
    [
      'a bundle above the limit, without a place',
      'x'.repeat(bundleBytesMax + 1),
      '',
      `a bundle may have at most ${bundleBytesMax} bytes`,
    ],
    ['a value that is not JSON', { rules: [1n] }, '', ''],
    ['a member by its pointer', `${head}rules: [{id: a, effect: maybe}]`, '/rules/0/effect', ' at /rules/0/effect'],
    [
      'a second rule with the same ID',
      `${head}rules: [{id: a, effect: deny}, {id: a, effect: deny}]`,
      '/rules/1/id',
      'the id a belongs to two rules. Rename one at /rules/1/id',
    ],
    [
      'a name with a slash',
      `${head}rules: []\ntools: {"a/b~c": {effect_level: E9}}`,
      '/tools/a~1b~0c/effect_level',
      ' at /tools/a~1b~0c/effect_level',
    ],
    ['several unknown members', `${head}rules: []\nx: 1\ny: 2`, '', 'unknown member x, y'],
  ])('reports the place and the cause of a fault: %s', (_what, source, path, words) => {
    const fault = faultOf(() => parsePolicyBundle(source));
    expect(fault).toMatchObject({ path, message: expect.stringContaining(words) });
    expect(fault.message).not.toMatch(/ at $|^$/);
    if (path === '' && words !== '') expect(fault.message).toBe(words);
  });

  it('reports a fault of YAML or of an expression in one line', () => {
    for (const read of [
      () => parsePolicyBundle(`${head}rules: [`),
      () => policyOf([{ id: 'r', effect: 'allow', when: 'action ==' }]),
    ])
      expect(faultOf(read).message).toMatch(/^.{15,200}$/);
  });

  it('reports the place of an unknown member', () => {
    const text = `${head}rules: [{id: a, effect: allow, wehn: "true"}]`;
    expect(() => parsePolicyBundle(text)).toThrow(
      expect.objectContaining({ path: '/rules/0', message: expect.stringContaining('wehn') }),
    );
  });
});

describe('compilePolicy', () => {
  const refused: [string, string][] = [
    ['secrets.key == 1', 'VARIABLE_UNKNOWN'],
    ['args.items.exists(tool, tool == 1)', 'VARIABLE_UNKNOWN'],
    ['args.name.matches("(?=x)y")', 'REGEXP_REFUSED'],
    ['args.name.matches("(a)\\\\1")', 'REGEXP_REFUSED'],
    ['args.name.matches(args.pattern)', 'REGEXP_REFUSED'],
    ['args.name.matches(5)', 'REGEXP_REFUSED'],
    ['args.name.linearMatches(args.pattern)', 'FUNCTION_REFUSED'],
    ['instant("2026-01-01T00:00:00Z") < now', 'FUNCTION_REFUSED'],
    ['now.getHours("Europe/Berlin") < 5', 'FUNCTION_REFUSED'],
    ['now.getDayOfYear() < 5', 'FUNCTION_REFUSED'],
    ['cel.bind(x, 1, x == 1)', 'FUNCTION_REFUSED'],
    ['args.a.all(x, args.b.all(y, args.c.all(z, x == y && y == z)))', 'NESTING_REFUSED'],
    ['1 + 1', 'EXPRESSION_NOT_BOOLEAN'],
    ['action > 1', 'EXPRESSION_INVALID'],
    ['action ==', 'EXPRESSION_INVALID'],
    ['args.items.exists(1, true)', 'EXPRESSION_INVALID'],
    ['args.items.all()', 'FUNCTION_REFUSED'],
    ['args.items.map(x.y, x)', 'EXPRESSION_INVALID'],
    ['action // c matches\n.matches("a") // .\n', 'EXPRESSION_INVALID'],
  ];
  it.each(refused)('refuses %s', (when, code) => {
    expect(() => policyOf([{ id: 'r', effect: 'allow', when }])).toThrow(
      expect.objectContaining({ code, path: '/rules/0/when' }),
    );
  });

  it('runs the tests of the bundle and names the one that fails', () => {
    const rules = [{ id: 'big', effect: 'escalate', when: 'args.amount > 100' }];
    const test = (amount: number, verdict: string) => ({
      name: `pays ${amount}`,
      intent: { action: 'tool.call', args: { amount } },
      expect: { verdict },
    });
    expect(() => policyOf(rules, [test(500, 'ESCALATE'), test(5, 'DENY')])).not.toThrow();
    expect(() => policyOf(rules, [test(500, 'ALLOW')])).toThrow(
      expect.objectContaining({ code: 'TEST_FAILED', message: expect.stringContaining('pays 500') }),
    );
    expect(() => bundleOf(rules, [{ ...test(1, 'DENY'), extra: 1 }])).toThrow(
      expect.objectContaining({ code: 'UNKNOWN_MEMBER' }),
    );
  });

  const reads: [string, string[]][] = [
    ['args.amount > 1 && context.channel == "web"', ['args.amount', 'context.channel']],
    ['args["amount"] > 1', ['args.amount']],
    ['args[tool] == 1', ['args', 'tool']],
    ['args["a.b"].c == 1', ['args']],
    ['args.__proto__.x == 1', ['args']],
    ['args.__proto__x == 1', ['args.__proto__x']],
    ['args.a1.B_2 == 1 && args["1a"] == 1', ['args']],
    ['args.items.exists(i, i.price > args.limit)', ['args.items', 'args.limit']],
    ['has(args.a.b) || args.a == null', ['args.a']],
    ['args.items[0].name == principal', ['args.items', 'principal']],
    ['now > timestamp("2026-01-01T00:00:00Z")', ['now']],
    ['args.exists(action_name, action_name == "x")', ['args']],
  ];
  it.each(reads)('computes the read set of %s', (when, paths) => {
    expect(readSetOf(when)).toEqual(paths);
  });

  it('includes the members of match in the read set', () => {
    expect(policyOf([{ id: 'r', effect: 'allow', match: { action: ['a.b'], principal: ['*'] } }]).readSet).toEqual([
      'action',
      'principal',
    ]);
  });

  it('wires every gate that the contracts name, in their order', () => {
    expect(wiredGates()).toEqual(gateOrder);
  });
});

describe('rules', () => {
  it('deny when a member they read is missing, unless has() guards it', () => {
    expect(holds('args.amount > 1')).toBe('POLICY_EVALUATION_ERROR');
    expect(holds('has(args.amount) && args.amount > 1')).toBe('NO_MATCHING_RULE');
    expect(holds('!has(args.amount) || args.amount > 1')).toBe('allow');
  });

  it('deny when the value is not a boolean', () => {
    expect(holds('args.path')).toBe('POLICY_EVALUATION_ERROR');
  });

  it('cannot be switched off or on by members named like JavaScript internals', () => {
    const args: never = JSON.parse(
      '{"constructor":{"name":"Map"},"__proto__":{"admin":true},"hasOwnProperty":1}',
    ) as never;
    expect(holds('has(args.admin)', { args })).not.toBe('allow');
    expect(holds('args.admin == true', { args })).toBe('POLICY_EVALUATION_ERROR');
  });

  it('match regular expressions in linear time', () => {
    expect(holds('args.text.matches("^(a+)+$")', { args: { text: `${'a'.repeat(100_000)}b` } })).toBe(
      'NO_MATCHING_RULE',
    );
    expect(holds('(args.text) .matches ("b$") && action.matches("^tool[.]")', { args: { text: 'ab' } })).toBe('allow');
  });

  it('deny a call whose lists are too long for nested loops', () => {
    const items = Array.from({ length: 5000 }, (_, index) => index);
    expect(holds('args.items.exists(x, args.items.exists(y, x + y < 0.0))', { args: { items } })).toBe(
      'POLICY_EVALUATION_ERROR',
    );
    expect(holds('args.items.exists(x, x == 4999)', { args: { items } })).toBe('allow');
  });

  it('deny a call if all rules together would take too much work', () => {
    const text = 'a'.repeat(1_000_000);
    const judged = (rules: number) => {
      const searching = { effect: 'deny', when: 'args.text.matches("b$")' };
      const policy = policyOf([
        { id: 'any', effect: 'allow' },
        ...Array.from({ length: rules }, (_, index) => ({ id: `r${index}`, ...searching })),
      ]);
      const outcome = evaluateRules(policy, intentOf({ args: { text } }), environment);
      return outcome.kind === 'deny' ? outcome.code : outcome.kind;
    };
    expect(judged(5)).toBe('allow');
    expect(judged(500)).toBe('POLICY_EVALUATION_ERROR');
  });

  it('deny a call whose long text would be searched for each of its items', () => {
    const items = Array.from({ length: 5000 }, (_, index) => String(index));
    const when = 'args.items.exists(x, args.text.contains(x))';
    expect(holds(when, { args: { items, text: 'z'.repeat(500_000) } })).toBe('POLICY_EVALUATION_ERROR');
    expect(holds(when, { args: { items, text: 'a text with 4999 in it' } })).toBe('allow');
  });

  const longNames = Array.from({ length: 2000 }, (_, index) => `name-${index}`);
  const text = 'a'.repeat(400_000);
  const rereading = [
    'args.known.all(x, x in args.known)',
    'args.known.exists(x, args.text.matches("b$"))',
    'args.known.exists(x, (args.text + x).contains("b"))',
    'args.known.exists(x, args.text.size() == 1)',
    'args.known.exists(x, string(args.text) == string(args.text))',
    'args.known.all(x, args.text != args.text)',
    'args.known.exists(x, args.text < args.text)',
    'args.known.all(x, args.text <= args.text)',
    'args.known.exists(x, args.text > args.text)',
    'args.known.all(x, args.text >= args.text)',
    'args.known.map(x, args.text).exists(x, x.matches("b$"))',
    'args.pairs.exists(x, args.pairs.exists(y, y.matches("b$")))',
    'args.pairs.exists(x, args.pairs.exists(y, x.matches("b$")))',
    'args.known.filter(x, args.known == args.known).size() == 0',
    'args.known.exists(x, [x].join(args.text) == "")',
    'args.known.exists(x, {"t": args.text} == {"t": args.text})',
  ];
  it.each(rereading)('deny a call whose texts and lists would be read in each round of %s', (when) => {
    const args = when.includes('pairs') ? { pairs: longNames.slice(0, 900), text } : { known: longNames, text };
    expect(holds(when, { args })).toBe('POLICY_EVALUATION_ERROR');
  });

  const readOnce = [
    'args.known.all(x, x.startsWith("name") && x != args.text && x.size() < 10)',
    'args.known.all(x, x in ["a", "b"] || x != principal || x == args.text || x.size() < 400)',
    'args.groups.all(g, g.tags.all(t, t.startsWith(t) && t.size() < 10))',
    'args.known.filter(x, x.endsWith("7")).all(x, x.substring(5) != "")',
  ];
  it.each(readOnce)('evaluate a long call if each value is read once, as in %s', (when) => {
    const groups = Array.from({ length: 150 }, () => ({ tags: ['a', 'b'.repeat(8)] }));
    expect(holds(when, { args: when.includes('groups') ? { groups } : { known: longNames, text } })).toBe('allow');
  });

  it('evaluate a call with short lists that are read in each round', () => {
    const names = longNames.slice(0, 100);
    expect(holds('args.names.all(x, x in args.names)', { args: { names } })).toBe('allow');
  });

  it('search a long text for a short one, but not for another long one', () => {
    const sought = `${'a'.repeat(150_000)}b${'a'.repeat(150_000)}`;
    const searches = ['contains(args.s)', 'indexOf(args.s) > 0', 'lastIndexOf(args.s) > 0', 'split(args.s).size() > 1'];
    // With the library, one of these searches would take half a minute.
    for (const search of searches)
      expect(holds(`args.text.${search}`, { args: { text, s: sought } })).toBe('POLICY_EVALUATION_ERROR');
  });

  const found: [string, boolean][] = [
    ['args.t.contains(args.s)', true],
    ['args.t.indexOf(args.s) == 1 && args.t.indexOf(args.s, 2) == 3 && args.t.indexOf("", 3) == 3', true],
    ['args.t.lastIndexOf(args.s) == 3 && args.t.lastIndexOf(args.s, 2) == 1', true],
    ['args.t.split(args.s) == ["a", "a", "a"] && args.t.split(args.s, 2) == ["a", "aba"]', true],
    ['args.t.split(args.s, 0).size() == 0 && args.t.split(args.s, -1).size() == 3', true],
    ['args.t.contains(args.t + args.s) || args.t.indexOf("c") != -1', false],
  ];
  it.each(found)('find the searched text: %s is %s', (when, holding) => {
    expect(holds(when, { args: { t: 'ababa', s: 'b' } })).toBe(holding ? 'allow' : 'NO_MATCHING_RULE');
    expect(holds(when.replaceAll('args.s', '"b"'), { args: { t: 'ababa' } })).toBe(
      holding ? 'allow' : 'NO_MATCHING_RULE',
    );
  });

  it('deny a search from a position outside the text', () => {
    expect(holds('args.t.indexOf(args.s, 5) == 1', { args: { t: 'ababa', s: 'b' } })).toBe('POLICY_EVALUATION_ERROR');
  });

  it('reject a time without a zone', () => {
    expect(holds('timestamp(args.due) > now', { args: { due: '2027-01-01T00:00:00Z' } })).toBe('allow');
    expect(holds('timestamp(args.due) > now', { args: { due: '2027-01-01T00:00:00.000' } })).toBe(
      'POLICY_EVALUATION_ERROR',
    );
  });

  it('name the failing rule and never its arguments', () => {
    const outcome = evaluateRules(
      policyOf([{ id: 'due', effect: 'deny', when: 'timestamp(args.due) > now' }]),
      intentOf({ args: { due: 'hunter2' } }),
      environment,
    );
    expect(outcome).toMatchObject({ kind: 'deny', rules: ['due'] });
    expect(JSON.stringify(outcome)).not.toContain('hunter2');
  });

  it('may read only as many names as fit into the record of a call', () => {
    const reading = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        id: `r${index}`,
        effect: 'allow',
        when: `has(args.${'m'.repeat(1_000)}${index})`,
      }));
    expect(policyOf(reading(250)).readSet).toHaveLength(250);
    expect(() => policyOf(reading(262))).toThrow(expect.objectContaining({ code: 'TOO_LARGE', path: '/rules' }));
    const deep = (name: string) => `has(args.${Array.from({ length: 31 }, () => name.repeat(100)).join('.')})`;
    const names = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));
    const nested = names.map((name) => ({ id: name, effect: 'allow', when: deep(name) }));
    expect(() => policyOf(nested)).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }));
  });

  it('are found by the tool of the call, without reading the other 499 rules', () => {
    const rules = Array.from({ length: 500 }, (_, index) => ({
      id: `r${index}`,
      effect: 'allow',
      match: { tool: [`t.${index}`] },
      when: 'args.amount < 100',
    }));
    const policy = policyOf(rules);
    const intent = intentOf({ tool: 't.250', args: { amount: 5 } });
    expect([...candidateRules(policy.index, intent)].map(({ rule }) => rule.id)).toEqual(['r250']);
    // Only the index contains the rules, so no other rule can have been used.
    const indexed = { ...policy, rules: [], byId: new Map() };
    expect(evaluateRules(indexed, intent, environment)).toMatchObject({ kind: 'allow', rules: ['r250'] });
  });
});
