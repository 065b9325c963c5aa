import { instantOrNull, instantOf } from '@countersign/contracts';
import type { SessionView } from '@countersign/contracts/control-plane';
import type { StoredPasskey } from '../store/passkeys.ts';
import type { StoredIdentity } from '../store/provider-identities.ts';
import type { StoredSession } from '../store/sessions.ts';
import { csrfTokenOf } from './csrf-token.ts';

export function sessionView(session: StoredSession, secret: string): SessionView {
  const { id, userId, methods, provenAt, createdAt, expiresAt } = session;
  return {
    session_id: id,
    user_id: userId,
    methods,
    proven_at: instantOf(provenAt),
    signed_in_at: instantOf(createdAt),
    expires_at: instantOf(expiresAt),
    csrf_token: csrfTokenOf(secret, id),
  };
}

/** The view of a session in the list of all sign-ins of a person. */
export function openSessionView({ id, client, address, createdAt, expiresAt }: StoredSession) {
  const times = { signed_in_at: instantOf(createdAt), expires_at: instantOf(expiresAt) };
  return { session_id: id, client, address, ...times };
}

/** The session of a program with its workspace, as a list of one. The list is empty for a browser. */
export function deviceView(session: StoredSession) {
  const { within } = session;
  return within === null ? [] : [{ ...openSessionView(session), workspace_id: within.workspaceId, role: within.role }];
}

export function passkeyView({ credentialId, workspaceId, enrolledAt, signedInAt }: StoredPasskey) {
  return {
    credential_id: credentialId,
    workspace_id: workspaceId,
    enrolled_at: instantOf(enrolledAt),
    signed_in_at: instantOrNull(signedInAt),
  };
}

export function identityView({ id, connectionId, issuer, subject, linkedAt, signedInAt }: StoredIdentity) {
  return {
    ...{ identity_id: id, connection_id: connectionId, issuer, subject },
    linked_at: instantOf(linkedAt),
    signed_in_at: instantOrNull(signedInAt),
  };
}
