import { AppError, type PrincipalId, type TenantId } from '@countersign/contracts';
import {
  agentTokenTerms,
  EnrolmentProofClaims,
  EnrolmentProofHeader,
  type KeyThumbprint,
} from '@countersign/contracts/governance-kernel';
import { jwkThumbprint, publicKeyFromJwk, type CryptoProvider } from '@countersign/crypto';
import { importedKey, signedTokenHeader, verifySignedToken } from '@countersign/service-kit';

type Expected = { tenant: TenantId; principal: PrincipalId; audience: string; now: Date };
type ProvenKey = { kid: KeyThumbprint; publicKey: string; nonce: string };

/**
 * The key that signed this proof, and the challenge that it signed. `proof` is attacker-controlled. Throws
 * INVALID_REQUEST when it is malformed, expired, for a different tenant, agent or kernel, or not signed by its key.
 */
export async function verifyEnrolmentProof(
  provider: CryptoProvider,
  proof: string,
  expected: Expected,
): Promise<ProvenKey> {
  return await provenKey(provider, proof, expected).catch((cause: unknown) => {
    throw new AppError(
      'INVALID_REQUEST',
      'proof is malformed, has expired, is for a different tenant, agent or kernel, or is not signed by the key in its header',
      {
        param: 'proof',
        cause,
      },
    );
  });
}

async function provenKey(provider: CryptoProvider, proof: string, expected: Expected): Promise<ProvenKey> {
  const { jwk } = EnrolmentProofHeader.parse(signedTokenHeader(proof));
  const publicKey = publicKeyFromJwk(jwk);
  const { now, audience, tenant, principal } = expected;
  const { lifeSecondsMax } = agentTokenTerms;
  const signed = await verifySignedToken(proof, importedKey(publicKey), { now, lifeSecondsMax });
  const claims = EnrolmentProofClaims.parse(signed);
  if (claims.aud !== audience || claims.tenant_id !== tenant || claims.sub !== principal)
    throw new Error('it is meant for another tenant, agent or kernel');
  const kid = jwkThumbprint(provider, publicKey) as KeyThumbprint; // SHA-256 in base64url
  return { kid, publicKey: jwk.x, nonce: claims.nonce };
}
