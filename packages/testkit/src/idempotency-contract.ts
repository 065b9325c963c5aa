import { expect, it } from '@jest/globals';
import type { IdempotencyStore, IdempotencyVerdict, StoredAnswer } from '@countersign/service-kit';

type StoreUnderTest = {
  store: IdempotencyStore;
  /** Makes all stored rows older. */
  age(ms: number): Promise<void>;
  /** The longest time of a running request. After it, the key of the request is free again. */
  runningMsMax: number;
};

const dayMs = 86_400_000;
const minuteMs = 60_000;
const stored: StoredAnswer = { status: 201, headers: { etag: '"1"' }, text: '{"umlaut":"ü","big":1e21}' };

/**
 * The contract of all stores of idempotency keys. Call it inside `describe`. `open` must return the same store each
 * time.
 */
export function idempotencyContract(open: () => StoreUnderTest): void {
  let keys = 0;
  const newKey = () => `key-${(keys += 1)}`;
  const begin = (key: string, fingerprint = 'sha256:a', scope = 'scope') => open().store.begin(scope, key, fingerprint);

  it('runs one of many equal claims', async () => {
    const key = newKey();
    const verdicts = await Promise.all(Array.from({ length: 16 }, () => begin(key)));
    expect(verdicts.map(({ kind }) => kind).sort()).toEqual([...Array<string>(15).fill('in-flight'), 'run']);
  });

  it('repeats the stored response unchanged for each retry', async () => {
    const key = newKey();
    await begin(key);
    await open().store.complete('scope', key, stored);
    for (let repeat = 0; repeat < 2; repeat += 1) expect(await begin(key)).toEqual({ kind: 'replay', answer: stored });
  });

  it('detects a different request under the same key, before and after the response', async () => {
    const key = newKey();
    await begin(key);
    expect(await begin(key, 'sha256:b')).toEqual({ kind: 'mismatch' });
    await open().store.complete('scope', key, stored);
    expect(await begin(key, 'sha256:b')).toEqual({ kind: 'mismatch' });
  });

  it('separates the scopes', async () => {
    const key = newKey();
    await begin(key);
    expect(await begin(key, 'sha256:b', 'another scope')).toEqual({ kind: 'run' });
    await open().store.complete('another scope', key, stored);
    expect(await begin(key)).toEqual({ kind: 'in-flight' });
  });

  it('frees a released key, but not a key with a response', async () => {
    const key = newKey();
    await begin(key);
    await open().store.abandon('scope', key);
    expect(await begin(key, 'sha256:b')).toEqual({ kind: 'run' });
    await open().store.complete('scope', key, stored);
    await open().store.abandon('scope', key);
    expect(await begin(key, 'sha256:b')).toEqual({ kind: 'replay', answer: stored });
  });

  idempotencyAges(open, { newKey, begin });
}

type Asking = {
  newKey(): string;
  begin(key: string, fingerprint?: string): Promise<IdempotencyVerdict>;
};

function idempotencyAges(open: () => StoreUnderTest, { newKey, begin }: Asking): void {
  it('frees the key of a lost request, but not before the time limit', async () => {
    const key = newKey();
    const { age, runningMsMax } = open();
    await begin(key);
    await age(runningMsMax - minuteMs);
    expect(await begin(key)).toEqual({ kind: 'in-flight' });
    await age(2 * minuteMs);
    expect(await begin(key, 'sha256:b')).toEqual({ kind: 'run' });
  });

  it('deletes a response after 24 hours, but not before', async () => {
    const key = newKey();
    await begin(key);
    await open().store.complete('scope', key, stored);
    await open().age(dayMs - minuteMs);
    expect(await begin(key)).toEqual({ kind: 'replay', answer: stored });
    await open().age(2 * minuteMs);
    expect(await begin(key, 'sha256:b')).toEqual({ kind: 'run' });
  });
}
