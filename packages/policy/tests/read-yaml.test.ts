import { describe, expect, it } from '@jest/globals';
import { bundleBytesMax } from '@countersign/contracts/governance-kernel';
import { YAMLError } from 'yaml';
import { readYaml } from '../src/read-yaml.ts';

const refusal = (text: string) => {
  try {
    readYaml(text);
    return null;
  } catch (error) {
    return error;
  }
};
const refused = (message: string) => expect.objectContaining({ code: 'YAML_REFUSED', path: '', message });
const around = (levels: number, inside: string) =>
  `name: n\na: ${'['.repeat(levels - 1)}${inside}${']'.repeat(levels - 1)}`;

describe('a text in YAML', () => {
  it.each([
    ['brackets', (levels: number) => around(levels, 'x')],
    ['empty brackets', (levels: number) => around(levels, '')],
    ['lists', (levels: number) => `a:\n  ${'- '.repeat(levels - 1)}x`],
    [
      'explicit keys',
      (levels: number) => {
        const inner = Array.from({ length: levels - 1 }, (_, nth) => `${'  '.repeat(nth)}: ? a`);
        return ['? a', ...inner, `${'  '.repeat(levels - 1)}: x`].join('\n');
      },
    ],
    ['braces', (levels: number) => `a: ${'{a: '.repeat(levels - 1)}x${'}'.repeat(levels - 1)}`],
    [
      'indentation',
      (levels: number) => Array.from({ length: levels }, (_, nth) => `${' '.repeat(nth)}a:`).join('\n') + ' x',
    ],
  ])('may have 64 levels of %s, and no more', (_what, nested) => {
    expect(refusal(nested(64))).toBeNull();
    expect(refusal(nested(65))).toEqual(
      refused(expect.stringMatching(/^line \d+: nests deeper than 64 levels$/) as never),
    );
  });

  it('has no levels inside scalars, nor between adjacent values', () => {
    const deep = '[{'.repeat(100);
    expect(
      refusal(`a: "${deep}"\nb: '${deep}'\nc: |\n  ${deep}\nd: x${deep}\n# ${deep}\ne: [${'[], '.repeat(100)}]`),
    ).toBeNull();
    expect(refusal('- - x\n'.repeat(1_000))).toBeNull();
  });

  it.each([
    ['a: 1\nb: [&x 1]', 'line 2: anchors and aliases are refused'],
    ['a: 1\nb:\n  *x : 1', 'line 3: anchors and aliases are refused'],
    ['a: 1\nb: !x 1', 'line 2: tags are refused'],
    [around(65, 'x'), 'line 2: nests deeper than 64 levels'],
  ])('is rejected with its line: %j', (text, message) => {
    expect(refusal(text)).toEqual(refused(message));
  });

  it('may contain the characters of anchors and tags in scalars', () => {
    const { document } = readYaml('a: "&x"\nb: |\n  !x\nc: x &y *z !q\n');
    expect(document.toJS()).toEqual({ a: '&x', b: '!x\n', c: 'x &y *z !q' });
  });

  it.each([
    ['a: 1\nb: [1\n', /^line 3: .* with a \]$/],
    ['a: 1\nb: @', /^line 2: .* character @$/],
    ['a: 1\nb: ]\n', /^line 2: .*flow-seq-end/],
    ['%NO thing\n---\na: 1', /^line 1: .*NO$/],
    ['%TAG\n---\na: 1', /^line 1: .*TAG/],
    ['a: 1\n---\nb: 1', /^line 2: a bundle must be a single document$/],
    ['a: 1\n---\nb: 1\n---\nc: 1', /^line 2: a bundle must be a single document$/],
    ['a: 1\nb: [1, , @]', /^line 2: .*,/],
  ])('is rejected at the line of its first fault: %j', (text, message) => {
    expect(refusal(text)).toEqual(refused(expect.stringMatching(message) as never));
  });

  it.each(['[,', '[? ', '["" ', ']\n', '[\n@,', '%A\n'])('is read only up to its first fault: %j', (unit) => {
    const made: unknown[] = [];
    // The library sets the place of each error and warning, so this list counts them.
    Object.defineProperty(YAMLError.prototype, 'pos', { set: (place) => made.push(place), configurable: true });
    try {
      expect(refusal(`a: ${unit}${unit.slice(-2).repeat(2_000)}`)).toEqual(refused(expect.any(String) as never));
    } finally {
      Reflect.deleteProperty(YAMLError.prototype, 'pos');
    }
    expect(made).toEqual([]);
  });

  it('may have as many characters as a bundle, and no more', () => {
    expect(refusal(`#${'x'.repeat(bundleBytesMax - 1)}`)).toBeNull();
    expect(refusal(`#${'x'.repeat(bundleBytesMax)}`)).toEqual(expect.objectContaining({ code: 'TOO_LARGE', path: '' }));
  });
});
