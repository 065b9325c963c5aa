import { describe, expect, it } from '@jest/globals';
import { keyHeaders } from '../src/siblings/answer-of.ts';

describe('an Idempotency-Key for a request to a sibling', () => {
  it('is sent in quotes, because an unquoted key cannot contain spaces', () => {
    const claim = { key: 'once more', fingerprint: 'sha256:0' };
    expect(keyHeaders(claim)).toEqual({ 'idempotency-key': '"once more"' });
  });

  it('is not sent when the request has none', () => {
    expect(keyHeaders(null)).toEqual({});
  });
});
