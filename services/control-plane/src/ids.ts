import { CommandId, IncidentId, InstallId, PlanId, SignInId, WhatIfId } from '@countersign/contracts';
import { HandleId, ReplayId } from '@countersign/contracts/control-plane';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { randomBytes } from 'node:crypto';
import { monotonicFactory } from 'ulid';

const nextUlid = monotonicFactory();

/** The id of a new session; those made by one process rise strictly. */
export function newSessionId(): SignInId {
  return SignInId.parse(`ses_${nextUlid()}`);
}

/** The id of a new organisation. */
export function newOrgId(): OrgId {
  return OrgId.parse(`org_${nextUlid()}`);
}

/** The id of a new audit entry. */
export function newAuditId(): string {
  return `aud_${nextUlid()}`;
}

export function newWhatIfId(): WhatIfId {
  return WhatIfId.parse(`wif_${nextUlid()}`);
}

export function newActivationId(): string {
  return `pac_${nextUlid()}`;
}

/** The id of a new command; those made by one process rise strictly. */
export function newCommandId(): CommandId {
  return CommandId.parse(`cmd_${nextUlid()}`);
}

/** The id of a new plan. */
export function newPlanId(): PlanId {
  return PlanId.parse(`pln_${nextUlid()}`);
}

export function newInstallId(): InstallId {
  return InstallId.parse(`cin_${nextUlid()}`);
}

/** Tells two requests for the same thing apart. */
export function newAttemptId(): string {
  return `att_${nextUlid()}`;
}

export function newIncidentId(): IncidentId {
  return IncidentId.parse(`inc_${nextUlid()}`);
}

/** The id of a new entry of a timeline; those made by one process rise strictly. */
export function newIncidentEntryId(): string {
  return `ine_${nextUlid()}`;
}

/** Who holds a handle may open what it names, so it is random throughout: an id that rises with the time could be guessed. */
export function newHandleId(): HandleId {
  return HandleId.parse(`hdl_${unguessable()}`);
}

/** A replay that was published is opened by its id too. */
export function newReplayId(): ReplayId {
  return ReplayId.parse(`rpl_${unguessable()}`);
}

const unguessableBytes = 16;

function unguessable(): string {
  return randomBytes(unguessableBytes).toString('base64url');
}
