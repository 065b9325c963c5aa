const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('\r\n0\r\n\r\n');
const statusStart = 'HTTP/1.1 '.length;

/** Finds the end of each HTTP/1.1 answer on a connection, by its content-length or by its last chunk. */
export class AnswerReader {
  #head: Buffer | null = null;
  #status: string | null = null;
  /** The number of body bytes still to come. `null` while the body is chunked. */
  #missing: number | null = 0;
  #tail: Buffer = Buffer.alloc(0);

  /** Returns the status when the answer is complete, else `null`. */
  take(chunk: Buffer): string | null {
    if (this.#status !== null) return this.#takeBody(chunk);
    const bytes = this.#head === null ? chunk : Buffer.concat([this.#head, chunk]);
    const end = bytes.indexOf(headEnd);
    if (end === -1) {
      this.#head = bytes;
      return null;
    }
    this.#head = null;
    const head = bytes.toString('latin1', 0, end);
    this.#status = head.slice(statusStart, statusStart + 3);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#missing = length === undefined ? null : Number(length);
    // The first chunk may be the last. Its size line begins where the head ends.
    return this.#takeBody(bytes.subarray(end + (length === undefined ? 2 : headEnd.length)));
  }

  #takeBody(bytes: Buffer): string | null {
    if (!this.#endsWith(bytes)) return null;
    const status = this.#status;
    this.#status = null;
    this.#tail = Buffer.alloc(0);
    return status;
  }

  #endsWith(bytes: Buffer): boolean {
    if (this.#missing !== null) {
      this.#missing -= bytes.length;
      return this.#missing <= 0;
    }
    this.#tail = Buffer.concat([this.#tail.subarray(-lastChunk.length), bytes]);
    return this.#tail.subarray(-lastChunk.length).equals(lastChunk);
  }
}
