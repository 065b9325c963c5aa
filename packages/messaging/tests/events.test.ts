import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { defineEvent, EventId } from '@countersign/contracts';
import { eventFactory } from '@countersign/messaging';
import { z } from 'zod';
import { backoffMs } from '../src/backoff.ts';
import { matchesTopic } from '../src/topic-pattern.ts';
import { noteTaken } from './note.ts';

describe('an event', () => {
  it('is a CloudEvent 1.0 with a sortable id', () => {
    let nowMs = Date.parse('2026-01-02T03:04:05.678Z');
    const newEvent = eventFactory({ source: '/notes', clock: { now: () => nowMs++ } });
    const [first, second] = [0, 1].map((value) => newEvent(noteTaken, { value }, { tenantid: 'acme' }).event);
    expect(first).toMatchObject({
      specversion: '1.0',
      source: '/notes',
      type: 'note.taken.v1',
      time: '2026-01-02T03:04:05.678Z',
      tenantid: 'acme',
      data: { value: 0 },
    });
    expect(EventId.safeParse(first?.id).success).toBe(true);
    expect(String(first?.id) < String(second?.id)).toBe(true);
  });

  it('is refused before it reaches the outbox when data or trace context do not match the definition', () => {
    const newEvent = eventFactory({ source: '/notes' });
    expect(() => newEvent(noteTaken, { value: 0.5 })).toThrow(z.ZodError);
    expect(() => newEvent(noteTaken, { value: 1 }, { traceparent: 'garbage' })).toThrow(z.ZodError);
  });

  it.each(['noted', 'note.taken', 'Note.taken.v1', 'note.taken.v0'])('cannot have the type %s', (type) => {
    expect(() => defineEvent({ type, data: z.unknown() })).toThrow(TypeError);
  });
});

describe('a topic pattern', () => {
  it.each([
    ['task.*.v1', 'task.queued.v1', true],
    ['task.*.v1', 'task.run.queued.v1', false],
    ['task.#', 'task', true],
    ['#.v1', 'task.run.queued.v1', true],
    ['task.#.v1', 'task.v1', true],
    ['task.queued', 'task.queued.v1', false],
  ])('%s matches %s as in RabbitMQ: %s', (pattern, type, matches) => {
    expect(matchesTopic(pattern, type)).toBe(matches);
  });
});

describe('the backoff', () => {
  it('is between half of its ceiling and the ceiling, and never exceeds the maximum', () => {
    const attempts = fc.nat({ max: 10_000 });
    const random = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(attempts, random, (attempt, chance) => {
        const ceiling = Math.min(30_000, 200 * 2 ** attempt);
        const pause = backoffMs({ attempt, baseMs: 200, maxMs: 30_000 }, () => chance);
        expect(pause).toBeGreaterThanOrEqual(ceiling / 2);
        expect(pause).toBeLessThanOrEqual(ceiling);
      }),
    );
  });
});
