import { agentTokenTerms } from '@countersign/contracts/governance-kernel';
import { isSignedToken, signedTokenType } from '@countersign/service-kit';

/**
 * Whether a credential is one of an agent's own at the kernel: an access key, or a token that it has signed. An
 * operator's key, an approver's, another service's and an assertion are refused here.
 */
export function isAgentCredential(credential: string): boolean {
  if (isSignedToken(credential)) return signedTokenType(credential) === agentTokenTerms.tokenType;
  return /^agk_[A-Za-z0-9_-]{1,128}$/.test(credential);
}
