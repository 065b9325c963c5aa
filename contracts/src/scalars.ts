import { z } from 'zod';
import { currencies } from './currencies.ts';
import { outsideNames } from './unseen-characters.ts';

/** Crockford base32 ULID behind a short prefix: sortable by creation time. */
const ulidPattern = '[0-9A-HJKMNP-TV-Z]{26}';

function prefixedId<const Prefix extends string>(prefix: Prefix) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}_${ulidPattern}$`), `must look like ${prefix}_<ULID>`)
    .brand<Prefix>();
}

export const ReceiptId = prefixedId('rcp');
export const DecisionId = prefixedId('dec');
export const RecordId = prefixedId('rec');
export const ApprovalId = prefixedId('apr');
export const CheckpointId = prefixedId('chk');
export const BudgetId = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/)
  .brand<'BudgetId'>();
export const RunId = prefixedId('run');
export const TaskId = prefixedId('tsk');
export const WorkspaceId = prefixedId('wsp');
export const UserId = prefixedId('usr');
export const StepId = prefixedId('stp');
export const InviteId = prefixedId('inv');
export const ApiKeyId = prefixedId('hpk');
/** A sign-in: all sessions that one led to are one to its person. */
export const SignInId = prefixedId('ses');
export const AccessKeyId = prefixedId('key');
export const ChallengeId = prefixedId('wch');
export const EventId = prefixedId('evt');
export const ConformanceReportId = prefixedId('cfr');
export const TelemetryExportId = prefixedId('tlx');
export const SnapshotId = prefixedId('snp');
/** A report on what a draft would have decided. */
export const WhatIfId = prefixedId('wif');
export const CommandId = prefixedId('cmd');
export const InstallId = prefixedId('cin');
export const PlanId = prefixedId('pln');
export const IncidentId = prefixedId('inc');
export const SubscriptionId = prefixedId('sub');
export const InvoiceId = prefixedId('ivc');
export const CreditGrantId = prefixedId('crg');
export const LedgerTransactionId = prefixedId('ltx');
export const SandboxGrantId = prefixedId('sbx');
/** An envelope around native evidence. */
export const ManifestId = prefixedId('env');
/** An imported chain of a recorder beside the boundary. */
export const HostChainId = prefixedId('hch');
export const HostDriftId = prefixedId('hdr');
export const ScimTokenId = prefixedId('stk');
export const CheckoutId = prefixedId('chk');
/** A group of workspaces of one organisation. */
export const ProjectId = prefixedId('prj');
export const ComplianceReportId = prefixedId('cpr');
export const ScimUserId = prefixedId('scu');
export const ScimGroupId = prefixedId('scg');

export type ReceiptId = z.infer<typeof ReceiptId>;
export type DecisionId = z.infer<typeof DecisionId>;
export type RecordId = z.infer<typeof RecordId>;
export type ApprovalId = z.infer<typeof ApprovalId>;
export type CheckpointId = z.infer<typeof CheckpointId>;
export type BudgetId = z.infer<typeof BudgetId>;
export type RunId = z.infer<typeof RunId>;
export type TaskId = z.infer<typeof TaskId>;
export type WorkspaceId = z.infer<typeof WorkspaceId>;
export type UserId = z.infer<typeof UserId>;
export type StepId = z.infer<typeof StepId>;
export type InviteId = z.infer<typeof InviteId>;
export type ApiKeyId = z.infer<typeof ApiKeyId>;
export type SignInId = z.infer<typeof SignInId>;
export type AccessKeyId = z.infer<typeof AccessKeyId>;
export type ChallengeId = z.infer<typeof ChallengeId>;
export type EventId = z.infer<typeof EventId>;
export type ConformanceReportId = z.infer<typeof ConformanceReportId>;
export type TelemetryExportId = z.infer<typeof TelemetryExportId>;
export type SnapshotId = z.infer<typeof SnapshotId>;
export type WhatIfId = z.infer<typeof WhatIfId>;
export type CommandId = z.infer<typeof CommandId>;
export type InstallId = z.infer<typeof InstallId>;
export type PlanId = z.infer<typeof PlanId>;
export type IncidentId = z.infer<typeof IncidentId>;
export type SubscriptionId = z.infer<typeof SubscriptionId>;
export type InvoiceId = z.infer<typeof InvoiceId>;
export type CreditGrantId = z.infer<typeof CreditGrantId>;
export type LedgerTransactionId = z.infer<typeof LedgerTransactionId>;
export type SandboxGrantId = z.infer<typeof SandboxGrantId>;
export type ManifestId = z.infer<typeof ManifestId>;
export type HostChainId = z.infer<typeof HostChainId>;
export type HostDriftId = z.infer<typeof HostDriftId>;
export type ScimTokenId = z.infer<typeof ScimTokenId>;
export type CheckoutId = z.infer<typeof CheckoutId>;
export type ProjectId = z.infer<typeof ProjectId>;
export type ComplianceReportId = z.infer<typeof ComplianceReportId>;
export type ScimUserId = z.infer<typeof ScimUserId>;
export type ScimGroupId = z.infer<typeof ScimGroupId>;

/** Text as a person types it, several lines allowed; NUL is the one character that PostgreSQL cannot hold. */
export function storableText(bounds: { min?: number; max: number }) {
  return z
    .string()
    .min(bounds.min ?? 0)
    .max(bounds.max)
    .refine((value) => !value.includes('\u0000'), 'must not contain NUL');
}

/** `sha256:` and 64 lower-case hex digits. */
export const Digest = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, 'must be sha256:<64 lower-case hex digits>')
  .brand<'Digest'>();
export type Digest = z.infer<typeof Digest>;

/** Date.parse takes 30 February for 2 March, and 24:00 for the day after. */
function exists(instant: string): boolean {
  const ms = Date.parse(instant);
  return !Number.isNaN(ms) && new Date(ms).toISOString() === instant;
}

/** RFC 3339, UTC, exactly three fraction digits. */
export const Instant = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/, 'must be RFC 3339 UTC with milliseconds')
  .refine(exists, 'must be a date that exists')
  .brand<'Instant'>();
export type Instant = z.infer<typeof Instant>;

/** The version of a setting at its source. It rises with each change, so a late order changes nothing. */
export const ControlVersion = z.int().min(1).max(2_147_483_647);

const currencyCode = z.string().regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code');

/** Alphabetic code of a currency that exists by ISO 4217. */
export const Currency = currencyCode.refine((code) => currencies.has(code), 'must be a code of ISO 4217');

/** The currency as it was sealed: the list of ISO 4217 changes, and evidence does not. */
export const RecordedCurrency = currencyCode;

/** Money in minor units of its currency. */
export const AmountMinor = z.int().min(0).max(1_000_000_000_000);

/** One line without surrounding blanks. */
function oneLine(lengthMax: number, pattern: RegExp) {
  return z
    .string()
    .min(1)
    .max(lengthMax)
    .regex(pattern, 'must not contain characters that are not shown')
    .refine((value) => value.trim() === value, 'must not begin or end with a blank');
}

/**
 * A name given by a caller: tenant, principal, session, tool. Rules, fences and votes compare names, so two names never
 * differ only in invisible characters.
 */
const namePattern = new RegExp(`^[^${outsideNames}]*$`, 'u');
const callerName = (lengthMax: number) => oneLine(lengthMax, namePattern);
// eslint-disable-next-line no-control-regex -- the control characters are what the pattern refuses
const printable = /^[^\u0000-\u001f\u007f]*$/;

export const TenantId = callerName(128)
  .regex(/^[A-Za-z0-9._:-]+$/, 'may hold letters, digits and . _ : -')
  .brand<'TenantId'>();
export const PrincipalId = callerName(256).brand<'PrincipalId'>();
export const SessionId = callerName(256)
  .refine((value) => !/[/\\]/.test(value), 'must not contain / or \\')
  .brand<'SessionId'>();
export const ActionName = z
  .string()
  .max(128)
  .regex(/^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)+$/, 'must be a dotted lower-case name such as tool.call');
export const ToolName = callerName(256);
/** The resource of a call, in its caller's words: an address or a key of another system, in that system's spelling. */
export const ResourceName = oneLine(2048, printable);
export type TenantId = z.infer<typeof TenantId>;
export type PrincipalId = z.infer<typeof PrincipalId>;
export type SessionId = z.infer<typeof SessionId>;

/** E0 no effect, E1 reads, E2 reversible writes, E3 external or hard to undo, E4 destructive or financial. */
export const EffectLevel = z.enum(['E0', 'E1', 'E2', 'E3', 'E4']);
export type EffectLevel = z.infer<typeof EffectLevel>;

export const Verdict = z.enum(['ALLOW', 'DENY', 'ESCALATE']);
export type Verdict = z.infer<typeof Verdict>;

/** A plain JSON value; depth, size and number of values are limited where the text is parsed. */
export type PlainJson = null | boolean | number | string | PlainJson[] | { [member: string]: PlainJson };
/**
 * The content was checked when it was parsed, so it is not walked through again: z.json() tries six types of each
 * value.
 */
export const PlainValue = z.unknown() as unknown as z.ZodType<PlainJson>;
export const PlainObject = z.record(z.string(), z.unknown()) as unknown as z.ZodType<Record<string, PlainJson>>;

/**
 * Levels of arguments and context. The members that a policy reads are sealed a few levels down in a line, of which
 * readers accept up to 64 levels.
 */
export const argumentsDepthMax = 32;
/** Arguments and context of a call. */
export const CallMembers = PlainObject.refine(
  (members) => isWithin(members, argumentsDepthMax),
  `must not nest deeper than ${argumentsDepthMax} levels`,
);

/**
 * Arguments as a caller sends them. A value that is not an object is denied rather than refused, so that it leaves a
 * receipt.
 */
export const CallArguments = z.unknown().refine(
  (args) => isWithin(args as PlainJson, argumentsDepthMax), // parsed as JSON, like the members of PlainObject
  `must not nest deeper than ${argumentsDepthMax} levels`,
);

function isWithin(value: PlainJson, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((member) => isWithin(member, depth - 1));
}
