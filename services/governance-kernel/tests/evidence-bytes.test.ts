import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { utf8Bytes, utf8Text } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyText, type TrustedKey } from '@countersign/verifier';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { packOf } from './_pack.ts';
import { newSession, seal } from './_seal.ts';

const smallPolicy = `
format: countersign/policy.v1
name: small
version: "1"
rules:
  - { id: all, effect: allow, match: { action: ["*"] } }
`;

let test: TestKernel;
let trust: TrustedKey[];
let text: string;

beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('acme', smallPolicy);
  const session_id = newSession();
  await seal(test, { session_id });
  ({ text } = await packOf(test, { sessions: [session_id] }));
  trust = parseKeySet((await test.as('acme').listTrustKeys()).body);
});
afterAll(() => test.close());

const verdictOf = (changed: string) => verifyText(changed, { trust, provider: nodeProvider, tenant: 'acme' }).verdict;

describe('a pack', () => {
  verifies('kn.evidence.verify', 'is not verified if any single byte is changed', () => {
    const bytes = utf8Bytes(text);
    expect(verdictOf(utf8Text(bytes))).toBe('VERIFIED');
    const passed: number[] = [];
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Uint8Array.from(bytes);
      changed[at] = (bytes[at] ?? 0) ^ 1;
      if (verdictOf(Buffer.from(changed).toString('utf8')) === 'VERIFIED') passed.push(at);
    }
    expect(passed).toEqual([]);
  });

  verifies('kn.evidence.verify', 'is not verified if its end is cut or text is added', () => {
    for (const cut of [1, 2, 100]) expect(verdictOf(text.slice(0, -cut))).not.toBe('VERIFIED');
    for (const more of ['\n', ' ', '{}\n', text]) expect(verdictOf(`${text}${more}`)).not.toBe('VERIFIED');
    expect(verdictOf(`\uFEFF${text}`)).not.toBe('VERIFIED');
  });

  it('is not verified without the keys of its receipts', () => {
    expect(
      verifyText(text, { trust: trust.filter(({ purpose }) => purpose !== 'receipts'), provider: nodeProvider })
        .verdict,
    ).toBe('UNDECIDABLE');
  });
});
