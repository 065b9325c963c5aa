import { expect, it } from '@jest/globals';
import type { IdempotencyStore, IdempotencyVerdict, StoredAnswer } from '@countersign/service-kit';

type StoreUnderTest = {
  store: IdempotencyStore;
  /** Makes everything that is stored older. */
  age(ms: number): Promise<void>;
  /** How long a request may run before its key is free again. */
  runningMsMax: number;
};

const dayMs = 86_400_000;
const minuteMs = 60_000;
const stored: StoredAnswer = { status: 201, headers: { etag: '"1"' }, text: '{"umlaut":"ü","big":1e21}' };

/**
 * The contract of every store of idempotency keys. Call it inside `describe`; `open` gives the same store each time.
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

  it('gives the answer again exactly as it was, as often as it is asked', async () => {
    const key = newKey();
    await begin(key);
    await open().store.complete('scope', key, stored);
    for (let repeat = 0; repeat < 2; repeat += 1) expect(await begin(key)).toEqual({ kind: 'replay', answer: stored });
  });

  it('tells another request under the same key from the first, before and after the answer', async () => {
    const key = newKey();
    await begin(key);
    expect(await begin(key, 'sha256:b')).toEqual({ kind: 'mismatch' });
    await open().store.complete('scope', key, stored);
    expect(await begin(key, 'sha256:b')).toEqual({ kind: 'mismatch' });
  });

  it('keeps the scopes apart', async () => {
    const key = newKey();
    await begin(key);
    expect(await begin(key, 'sha256:b', 'another scope')).toEqual({ kind: 'run' });
    await open().store.complete('another scope', key, stored);
    expect(await begin(key)).toEqual({ kind: 'in-flight' });
  });

  it('frees a key that is given up, but not one that has been answered', async () => {
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
  it('frees the key of a request that was lost with its process, and no earlier', async () => {
    const key = newKey();
    const { age, runningMsMax } = open();
    await begin(key);
    await age(runningMsMax - minuteMs);
    expect(await begin(key)).toEqual({ kind: 'in-flight' });
    await age(2 * minuteMs);
    expect(await begin(key, 'sha256:b')).toEqual({ kind: 'run' });
  });

  it('forgets an answer after 24 hours, and no earlier', async () => {
    const key = newKey();
    await begin(key);
    await open().store.complete('scope', key, stored);
    await open().age(dayMs - minuteMs);
    expect(await begin(key)).toEqual({ kind: 'replay', answer: stored });
    await open().age(2 * minuteMs);
    expect(await begin(key, 'sha256:b')).toEqual({ kind: 'run' });
  });
}
