import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import type { AnyRoute } from '@countersign/contracts';
import * as kernel from '@countersign/contracts/governance-kernel';
import type { Probe } from './_published.ts';

type Challenge = Record<'audience' | 'tenant_id' | 'principal_id' | 'nonce', string>;
type Ask = (route: AnyRoute, probe?: Probe) => Promise<object>;

/** Calls each route of the registry of agents and operators, in the order of an agent's life. */
export async function askIdentities(ask: Ask): Promise<void> {
  const params = { principal: 'scout' };
  await ask(kernel.putIdentity, { params: { ...params, directory: 'agents' }, body: { display_name: 'Scout' } });
  const challenge = (await ask(kernel.createKeyChallenge, { params })) as Challenge; // validated by its published schema
  const { proof, kid } = proofOver(challenge);
  await ask(kernel.enrolIdentityKey, { params, body: { proof } });
  await ask(kernel.listAgents);
  await ask(kernel.listOperators);
  await ask(kernel.revokeIdentityKey, { params: { ...params, kid } });
  await ask(kernel.revokeIdentity, { params: { ...params, directory: 'agents' } });
}

function proofOver({ audience: aud, tenant_id, principal_id: sub, nonce }: Challenge) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { kty, crv, x } = publicKey.export({ format: 'jwk' });
  const iat = Math.floor(Date.now() / 1_000);
  const header = { alg: 'EdDSA', typ: 'countersign-enrolment+jwt', jwk: { kty, crv, x } };
  const pieces = [header, { aud, tenant_id, sub, nonce, iat, exp: iat + 60 }];
  const text = pieces.map((piece) => Buffer.from(JSON.stringify(piece)).toString('base64url')).join('.');
  const proof = `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`;
  const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url'); // RFC 7638
  return { proof, kid };
}
