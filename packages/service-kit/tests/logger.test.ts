import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createLogger, secretsEqual, type LoggerOptions } from '../src/index.ts';

function capturing(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString('utf8'));
      done();
    },
  });
  return { log: createLogger({ service: 'kernel', stream, ...options }), lines };
}

describe('the logger', () => {
  it('writes one JSON line per event with its name, its fields and those of its parents', () => {
    const { log, lines } = capturing();
    log.child({ request_id: 'req-12345' }).info('receipt.sealed', { receipt_id: 'rcp_1' });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'info',
      event: 'receipt.sealed',
      service: 'kernel',
      request_id: 'req-12345',
      receipt_id: 'rcp_1',
    });
  });

  it('never writes a secret at any depth or inside any text', () => {
    const { log, lines } = capturing();
    const hidden = {
      headers: [{ Authorization: 'Bearer hunter2-abc' }],
      apiKey: 'hunter2',
      access_token: 'hunter2',
      code: 'hunter2',
    };
    log.error('it.failed', {
      ...hidden,
      error: new Error('connect postgres://user:hunter2@db failed', { cause: { clientSecret: 'hunter2' } }),
      note: 'sent Bearer hunter2-abc',
    });
    expect(lines.join('')).not.toContain('hunter2');
  });

  it('writes one line with fault and cause for people, and stacks only as JSON', () => {
    const error = new Error('The receipt is not stored\n  yet', { cause: new Error('connect ECONNREFUSED') });
    const [terminal, machine] = [capturing({ layout: 'readable' }), capturing()];
    for (const { log } of [terminal, machine]) log.error('it.failed', { error, step: { nr: 1 } });
    expect(terminal.lines.join('')).toMatch(
      /^[\d:.]+ error kernel it\.failed error=The receipt is not stored yet: connect ECONNREFUSED step={"nr":1}\n$/,
    );
    expect(JSON.parse(machine.lines[0] ?? '')).toMatchObject({ error: { stack: error.stack } });
  });

  it('writes the number of bytes instead of the bytes', () => {
    const { log, lines } = capturing();
    const bytes = Buffer.from('hunter2');
    log.info('it.came', {
      body: bytes,
      nested: { parts: [new Uint8Array(bytes), new DataView(bytes.buffer, bytes.byteOffset, 7)] },
    });
    const line = lines[0] ?? '';
    expect(JSON.parse(line)).toMatchObject({ body: '[7 bytes]', nested: { parts: ['[7 bytes]', '[7 bytes]'] } });
    for (const shown of ['hunter2', '104,117', bytes.toString('hex'), bytes.toString('base64')])
      expect(line).not.toContain(shown);
  });

  it('does not redact values that only look secret', () => {
    const { log, lines } = capturing();
    log.info('decided', { reason_code: 'POLICY_DENIED', key_id: 'k1', tokens_in: 12 });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ reason_code: 'POLICY_DENIED', key_id: 'k1', tokens_in: 12 });
  });

  it('is silent when configured, and below its level', () => {
    const silent = capturing({ silent: true });
    const quiet = capturing({ level: 'warn' });
    silent.log.error('x');
    quiet.log.info('x');
    expect([...silent.lines, ...quiet.lines]).toEqual([]);
  });
});

describe('secretsEqual', () => {
  it('compares secrets of any length', () => {
    expect(secretsEqual('a-secret', 'a-secret')).toBe(true);
    expect(secretsEqual('a-secret', 'a-secreT')).toBe(false);
    expect(secretsEqual('a-secret', 'a-secret-and-more')).toBe(false);
  });
});
