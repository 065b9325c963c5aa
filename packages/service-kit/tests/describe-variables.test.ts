import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { describeVariables, durationMs, flag, integer, secret, secretUrl } from '../src/index.ts';

const descriptionOf = (schema: z.ZodType) =>
  describeVariables(z.object({ GOV_IT: schema.describe('Its meaning.') }))[0];
const plain = { name: 'GOV_IT', fallback: null, requiredWhen: null, meaning: 'Its meaning.', isSecret: false };

describe('the description of a variable', () => {
  it.each([
    ['an optional secret', secret().optional(), { type: 'text', isSecret: true }],
    ['a required secret', secretUrl(['amqp']), { type: 'URL (amqp)', isSecret: true, requiredWhen: 'always' }],
    ['a duration', durationMs(90_000, { minMs: 500 }), { type: 'duration, at least 500ms', fallback: '90s' }],
    ['a duration of zero', durationMs(0), { type: 'duration', fallback: '0ms' }],
    ['a switch', flag(true), { type: '`0` or `1`', fallback: '1' }],
    ['a number', integer({ min: 0, max: 9, fallback: 4 }), { type: 'whole number, 0 to 9', fallback: '4' }],
    ['an enumeration', z.enum(['a', 'b']).default('b'), { type: '`a`, `b`', fallback: 'b' }],
    [
      'a variable with metadata',
      z.string().optional().meta({ requiredWhen: 'in production', fallback: 'another variable' }),
      { type: 'text', requiredWhen: 'in production', fallback: 'another variable' },
    ],
  ])('contains type, default and requirement of %s', (_, schema, expected) => {
    expect(descriptionOf(schema)).toEqual({ ...plain, ...expected });
  });

  it('is refused for a variable without an explanation', () => {
    expect(() => describeVariables(z.object({ GOV_IT: flag(true) }))).toThrow('GOV_IT has no description');
  });
});
