import { agentTokenTerms } from '@countersign/contracts/governance-kernel';
import { isSignedToken, signedTokenType } from '@countersign/service-kit';

/**
 * Whether a credential belongs to an agent of the kernel: an access key, or a token that the agent signed. Keys of
 * operators and approvers, and assertions of services, are refused here.
 */
export function isAgentCredential(credential: string): boolean {
  if (isSignedToken(credential)) return signedTokenType(credential) === agentTokenTerms.tokenType;
  return /^agk_[A-Za-z0-9_-]{1,128}$/.test(credential);
}
