import { challengeApproval, type CeremonyStatement } from '@countersign/contracts/governance-kernel';
import { ifMatchTags } from '@countersign/service-kit';
import { digestOf } from '@countersign/crypto';
import { requireSameCeremony } from '../../controls/approvals/ceremony.ts';
import { beginVote } from '../../controls/approvals/passkey-vote.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { getCountedApproval } from '../../store/approval-store.ts';
import { passkeysAt } from '../../controls/passkeys/relying-party.ts';
import { awaitMembers } from '../../store/member-store.ts';

/** A caller that displays the approval sends the displayed ceremony hash. Other callers read it in the statement. */
export const challengeApprovalRoute = ({ passkeys, provider, reader }: Context) =>
  handleTenant(challengeApproval)(async ({ params, body, caller, req }) => {
    await awaitMembers(reader, caller);
    const counted = await getCountedApproval(reader, { tenant: caller.tenant, id: params.approval_id });
    const { approval } = counted;
    requireSameCeremony(ifMatchTags(req), body.expected_ceremony_hash, approval.ceremonyHash);
    const answer = await beginVote(passkeysAt(passkeys, caller), {
      ...counted,
      by: caller.principal,
      asserted: caller.assertion ?? null,
      decision: body.decision,
      expectedCeremonyHash: approval.ceremonyHash,
      ttlMs: body.ttl_ms,
      reason: body.reason,
    });
    const statement: CeremonyStatement = answer.statement;
    return challengeApproval.reply.parse({
      challenge_id: answer.id,
      approval_id: approval.id,
      method: body.method,
      challenge: answer.challenge,
      challenge_hash: digestOf(provider, answer.challenge),
      statement,
      options: answer.options,
      created_at: new Date(answer.createdAtMs).toISOString(),
      expires_at: new Date(answer.expiresAtMs).toISOString(),
    });
  });
