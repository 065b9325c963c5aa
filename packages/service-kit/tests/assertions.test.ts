import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  agentOf,
  ApiKeyId,
  assertionTerms,
  isAppError,
  keyPrincipal,
  PrincipalId,
  personAssertionTerms,
  SignInId,
  TenantId,
  UserId,
} from '@countersign/contracts';
import { encodeBase64Url, utf8Bytes } from '@countersign/crypto';
import { generateSigningKey } from '@countersign/crypto/signing';
import { CompactSign, exportJWK, type CompactJWSHeaderParameters } from 'jose';
import { AssertionVerifier, createAssertionSigner, isSignedToken, readAssertionKey } from '../src/index.ts';

const startMs = Date.parse('2026-11-22T10:00:00.000Z');
const iat = startMs / 1_000;
const own = generateSigningKey();
const another = generateSigningKey();
const keyOf = ({ privateKeyPem }: typeof own) => createPrivateKey(privateKeyPem);
const [workspace, neighbour] = ['wsp_01ARZ3NDEKTSV4RRFFQ69G5FA1', 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FA2'];
const user = 'usr_01ARZ3NDEKTSV4RRFFQ69G5FA1';
const apiKey = keyPrincipal(ApiKeyId.parse('hpk_01ARZ3NDEKTSV4RRFFQ69G5FA1'));
const asserted = {
  sub: PrincipalId.parse(agentOf(workspace)),
  workspace_id: TenantId.parse(workspace),
  role: 'agent' as const,
};
const header = { alg: 'EdDSA', typ: assertionTerms.type, kid: own.keyId };
const claims = { ...asserted, iss: assertionTerms.issuer, aud: assertionTerms.audience, iat, exp: iat + 60 };

/** A token that is valid except for the named members. `undefined` removes a member. */
function token(wrong: { header?: object; claims?: object; key?: Parameters<CompactSign['sign']>[0] } = {}) {
  const payload = JSON.parse(JSON.stringify({ ...claims, ...wrong.claims })) as object; // JSON omits undefined members
  const protectedHeader = JSON.parse(JSON.stringify({ ...header, ...wrong.header })) as CompactJWSHeaderParameters;
  return new CompactSign(utf8Bytes(JSON.stringify(payload)))
    .setProtectedHeader(protectedHeader)
    .sign(wrong.key ?? keyOf(own), { crit: { exp: true } });
}

/** A token without a signature, or with a signature that no algorithm made. */
const written = (head: object, payload: object, signature = '') =>
  [head, payload].map((segment) => encodeBase64Url(utf8Bytes(JSON.stringify(segment)))).join('.') + `.${signature}`;

function verifierAt(afterMs = 0, keys = [own]) {
  return AssertionVerifier.ofWorkspaces(keys, () => new Date(startMs + afterMs));
}

async function codeOf(text: string, verifier = verifierAt()): Promise<string> {
  try {
    await verifier.verify(text);
    return 'accepted';
  } catch (error) {
    return isAppError(error) ? error.code : String(error);
  }
}

const refused = 'CREDENTIALS_INVALID';

describe('an assertion', () => {
  it('carries the signed-in person to the control plane only, and the represented principal to the kernel only', async () => {
    const signer = createAssertionSigner(keyOf(own), () => new Date(startMs));
    const person = {
      sub: UserId.parse(user),
      sid: SignInId.parse('ses_01ARZ3NDEKTSV4RRFFQ69G5FA1'),
      auth_time: iat - 9,
    };
    const people = AssertionVerifier.ofPeople([own], () => new Date(startMs));
    const text = await signer.signPerson(person);
    expect(await people.verify(text)).toMatchObject({ ...person, exp: iat + 60, keyId: own.keyId });
    expect(await codeOf(text)).toBe(refused);
    await expect(people.verify(await signer.sign(asserted))).rejects.toMatchObject({ code: refused });
    const typ = personAssertionTerms.type;
    expect(await codeOf(await token({ header: { typ } }))).toBe(refused);
    await expect(people.verify(await token({ header: { typ } }))).rejects.toMatchObject({ code: refused });
    await expect(people.verify(await signer.signDelegation(person))).rejects.toMatchObject({ code: refused });
    const delegations = AssertionVerifier.ofDelegations([own], () => new Date(startMs));
    expect(await delegations.verify(await signer.signDelegation(person))).toMatchObject(person);
    await expect(delegations.verify(text)).rejects.toMatchObject({ code: refused });
  });

  it('proves tenant, principal and role under the key that was pinned', async () => {
    const signer = createAssertionSigner(keyOf(own), () => new Date(startMs));
    const text = await signer.sign(asserted);
    expect(isSignedToken(text)).toBe(true);
    expect(await verifierAt().verify(text)).toEqual({ ...claims, keyId: own.keyId });
    expect(await codeOf(await token())).toBe('accepted');
    for (const role of ['member', 'partner', 'owner'])
      expect(await codeOf(await token({ claims: { role, sub: user } }))).toBe('accepted');
    expect(await codeOf(await token({ claims: { sub: apiKey } }))).toBe('accepted');
  });

  it('is accepted under each of several pinned keys, and refused when no key is pinned', async () => {
    const texts = [await token(), await token({ key: keyOf(another), header: { kid: another.keyId } })];
    for (const text of texts) expect(await codeOf(text, verifierAt(0, [own, another]))).toBe('accepted');
    for (const text of texts) expect(await codeOf(text, verifierAt(0, []))).toBe(refused);
  });

  it.each<[string, Parameters<typeof token>[0]]>([
    ['by another key under the ID of a known key', { key: keyOf(another) }],
    ['by an unknown key under its own ID', { key: keyOf(another), header: { kid: another.keyId } }],
    ['without a key ID', { header: { kid: undefined } }],
    ['of another type', { header: { typ: 'JWT' } }],
    ['without a type', { header: { typ: undefined } }],
    ['with a critical header', { header: { crit: ['exp'], exp: iat } }],
    ['with a URL of keys in its header', { header: { jku: 'https://attacker.example/keys' } }],
    ['for another service', { claims: { aud: 'another-service' } }],
    ['for two services', { claims: { aud: [assertionTerms.audience, 'another-service'] } }],
    ['for a list of one service', { claims: { aud: [assertionTerms.audience] } }],
    ['by another issuer', { claims: { iss: 'another-issuer' } }],
    ['that has expired', { claims: { iat: iat - 121, exp: iat - 61 } }],
    ['that ends before it begins', { claims: { iat: iat + 4, exp: iat + 2 } }],
    ['that begins in the future', { claims: { iat: iat + 61, exp: iat + 90 } }],
    ['that is valid for too long', { claims: { exp: iat + 61 } }],
    ['with an unknown claim', { claims: { nbf: iat } }],
    ['for a role that does not exist', { claims: { role: 'admin' } }],
    ['for the workspace "*"', { claims: { workspace_id: '*' } }],
    ['for an empty subject', { claims: { sub: '' } }],
    ['for a tenant that is not a workspace', { claims: { workspace_id: 'acme', sub: 'agent:acme' } }],
    ['for the agent of another workspace', { claims: { sub: agentOf(neighbour) } }],
    ['for a user with the role of an agent', { claims: { sub: user } }],
    ['for the agent with the role of an owner', { claims: { role: 'owner' } }],
    ['for an API key with the role of an owner', { claims: { role: 'owner', sub: apiKey } }],
    ['for an API key with another prefix', { claims: { sub: apiKey.replace('hpk_', 'inv_') } }],
    ['for an API key with a suffix', { claims: { sub: `${apiKey}:more` } }],
    ['for a subject that is not a user', { claims: { role: 'owner', sub: 'admin' } }],
    ...Object.keys(claims).map((name): [string, object] => [`without ${name}`, { claims: { [name]: undefined } }]),
  ])('%s is refused', async (_, wrong) => {
    expect(await codeOf(await token(wrong))).toBe(refused);
  });

  it('with an unencoded payload (b64) is refused', async () => {
    const text = written({ ...header, crit: ['b64'], b64: false }, claims).slice(0, -1);
    expect(await codeOf(`${text}.${sign(null, Buffer.from(text), keyOf(own)).toString('base64url')}`)).toBe(refused);
  });

  it('with its own key in the header is refused', async () => {
    const jwk = await exportJWK(keyOf(another));
    const { d: _, ...open } = jwk;
    expect(await codeOf(await token({ key: keyOf(another), header: { jwk: open } }))).toBe(refused);
    expect(await codeOf(await token({ header: { jwk: open } }))).toBe(refused);
  });

  it('with another algorithm is refused: none, a MAC with our public key, or another kind of key', async () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const forged = [
      written({ ...header, alg: 'none' }, claims),
      written({ ...header, alg: 'NONE' }, claims, 'AAAA'),
      await token({ header: { alg: 'HS256' }, key: own.publicKey }),
      await token({ header: { alg: 'RS256' }, key: rsa }),
      await token({ header: { alg: 'ES256' }, key: ec }),
      await token({ header: { alg: 'Ed25519' } }),
    ];
    expect(await Promise.all(forged.map((text) => codeOf(text)))).toEqual(forged.map(() => refused));
  });

  it('with one changed character is refused, and so is a text that is not an assertion', async () => {
    const text = await token();
    const [head = '', statement = '', signature = ''] = text.split('.');
    const owner = encodeBase64Url(utf8Bytes(JSON.stringify({ ...claims, role: 'owner', sub: user })));
    const others = [
      `${head}.${owner}.${signature}`,
      `${head}.${statement}.`,
      `${head}.${statement}`,
      `${text}.${statement}`,
      'eyJ..',
      '',
    ];
    const flipped = `${head}.${statement}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    for (const forged of [...others, flipped]) expect(await codeOf(forged)).toBe(refused);
  });

  it('expires even after an earlier verification, with a tolerance of a minute for clocks', async () => {
    let afterMs = 0;
    const verifier = AssertionVerifier.ofWorkspaces([own], () => new Date(startMs + afterMs));
    const text = await token();
    const seen = [];
    for (afterMs of [-59_000, 0, 59_999, 119_000, 121_000]) seen.push(await codeOf(text, verifier));
    expect(seen).toEqual(['accepted', 'accepted', 'accepted', 'accepted', refused]);
    afterMs = -61_000;
    expect(await codeOf(text, verifierAt(afterMs))).toBe(refused);
  });

  it.each([
    ['The assertion of a workspace has expired. The time here is 2026-11-22T10:02:01.000Z', 121_000, {}],
    ['The assertion of a workspace begins in the future. The time here is 2026-11-22T09:58:59.000Z', -61_000, {}],
    ['The assertion of a workspace is not signed by the key that it names', 0, { key: keyOf(another) }],
    // Until the signature is verified, the message contains no claim about times.
    ['The assertion of a workspace is not signed by the key that it names', 121_000, { key: keyOf(another) }],
    ['The assertion of a workspace is not valid', 0, { claims: { aud: 'another-service' } }],
  ])('is refused with the kind of fault and the time: %s', async (message, afterMs, wrong) => {
    await expect(verifierAt(afterMs).verify(await token(wrong))).rejects.toMatchObject({ code: refused, message });
  });

  it('is cached, so a second verification is synchronous', async () => {
    const verifier = verifierAt();
    const text = await token();
    await verifier.verify(text);
    expect(verifier.verify(text)).not.toBeInstanceOf(Promise);
  });
});

describe('the signer of assertions', () => {
  it('signs again after half of the lifetime, and separately for each caller and workspace', async () => {
    let nowMs = startMs;
    const signer = createAssertionSigner(keyOf(own), () => new Date(nowMs));
    const first = await signer.sign(asserted);
    const owner = await signer.sign({ ...asserted, role: 'owner' });
    const elsewhere = await signer.sign({ ...asserted, workspace_id: TenantId.parse(neighbour) });
    expect(new Set([first, owner, elsewhere]).size).toBe(3);
    nowMs += 24_000;
    expect(await signer.sign(asserted)).toBe(first);
    nowMs += 6_000;
    const second = await signer.sign(asserted);
    expect(second).not.toBe(first);
    nowMs = startMs - 60_000;
    expect(await signer.sign(asserted)).not.toBe(second);
  });

  it('accepts only an Ed25519 private key', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({
      format: 'pem',
      type: 'pkcs8',
    });
    expect(readAssertionKey(own.privateKeyPem)?.asymmetricKeyType).toBe('ed25519');
    expect([readAssertionKey(rsa.toString()), readAssertionKey(''), readAssertionKey('-----BEGIN')]).toEqual([
      null,
      null,
      null,
    ]);
  });
});
