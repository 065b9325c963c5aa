import { describe, expect, it } from '@jest/globals';
import { AnswerReader } from '../src/processes/answer-reader.ts';

const withLength = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n';
const emptyChunked = 'HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n';
const empty = 'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n';

/** The statuses that a reader finds in an answer that comes in pieces of that many bytes. */
function statusesOf(reader: AnswerReader, text: string, pieceBytes: number): string[] {
  const bytes = Buffer.from(text);
  const found: string[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const status = reader.take(bytes.subarray(at, at + pieceBytes));
    if (status !== null) found.push(status);
  }
  return found;
}

describe('the load generator', () => {
  it.each([
    ['a body of known length', withLength, '200'],
    ['a chunked body', chunked, '200'],
    ['a chunked body of nothing', emptyChunked, '202'],
    ['no body', empty, '503'],
  ])('finds the end of an answer with %s, in pieces of any size', (_kind, text, status) => {
    for (let pieceBytes = 1; pieceBytes <= text.length; pieceBytes += 1)
      expect([pieceBytes, statusesOf(new AnswerReader(), text, pieceBytes)]).toEqual([pieceBytes, [status]]);
  });

  it('reads one answer after another on a connection', () => {
    const reader = new AnswerReader();
    const found = [withLength, chunked, empty, withLength].flatMap((text) => statusesOf(reader, text, 7));
    expect(found).toEqual(['200', '200', '503', '200']);
  });

  it('reports no answer before its body is complete', () => {
    expect(statusesOf(new AnswerReader(), withLength.slice(0, -1), 10)).toEqual([]);
    expect(statusesOf(new AnswerReader(), chunked.slice(0, -1), 10)).toEqual([]);
  });
});
