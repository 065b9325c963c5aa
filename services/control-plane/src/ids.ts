import { CommandId, IncidentId, InstallId, PlanId, ShimId, SignInId, WhatIfId } from '@countersign/contracts';
import { HandleId, ReplayId } from '@countersign/contracts/control-plane';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { randomBytes } from 'node:crypto';
import { monotonicFactory } from 'ulid';

const nextUlid = monotonicFactory();

/** The id of a new session. Ids of one process increase strictly. */
export function newSessionId(): SignInId {
  return SignInId.parse(`ses_${nextUlid()}`);
}

export function newOrgId(): OrgId {
  return OrgId.parse(`org_${nextUlid()}`);
}

export function newAuditId(): string {
  return `aud_${nextUlid()}`;
}

export function newWhatIfId(): WhatIfId {
  return WhatIfId.parse(`wif_${nextUlid()}`);
}

export function newActivationId(): string {
  return `pac_${nextUlid()}`;
}

/** The id of a new command. Ids of one process increase strictly. */
export function newCommandId(): CommandId {
  return CommandId.parse(`cmd_${nextUlid()}`);
}

export function newPlanId(): PlanId {
  return PlanId.parse(`pln_${nextUlid()}`);
}

export function newInstallId(): InstallId {
  return InstallId.parse(`cin_${nextUlid()}`);
}

export function newShimId(): ShimId {
  return ShimId.parse(`shm_${nextUlid()}`);
}

/** The id of an attempt. It distinguishes two requests for the same object. */
export function newAttemptId(): string {
  return `att_${nextUlid()}`;
}

export function newIncidentId(): IncidentId {
  return IncidentId.parse(`inc_${nextUlid()}`);
}

/** The id of a new timeline entry. Ids of one process increase strictly. */
export function newIncidentEntryId(): string {
  return `ine_${nextUlid()}`;
}

/** A handle grants access, so its id is fully random. A time-sortable id could be guessed. */
export function newHandleId(): HandleId {
  return HandleId.parse(`hdl_${unguessable()}`);
}

/** A published replay can be opened by its id, so the id is fully random. */
export function newReplayId(): ReplayId {
  return ReplayId.parse(`rpl_${unguessable()}`);
}

const unguessableBytes = 16;

function unguessable(): string {
  return randomBytes(unguessableBytes).toString('base64url');
}
