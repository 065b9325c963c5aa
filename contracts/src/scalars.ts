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
/** A sign-in. To the person it is one session, although the service stores a new session at each renewal. */
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
export const ShimId = prefixedId('shm');
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
export type ShimId = z.infer<typeof ShimId>;
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

/** Text of a person, of several lines. NUL is excluded, since PostgreSQL cannot store it. */
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

/** The SHA-256 of the data. Text is hashed as UTF-8. */
export function sha256Of(
  provider: { sha256Hex(data: Uint8Array | string): string },
  data: Uint8Array | string,
): Digest {
  return `sha256:${provider.sha256Hex(data)}` as Digest; // exactly this form
}

/** Rejects dates that Date.parse shifts, such as 30 February to 2 March and 24:00 to the next day. */
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

/** The characters of an instant. A year before 0 or after 9999 needs more. */
const instantLength = '2026-11-30T17:31:08.000Z'.length;

/** The instant of a date, or of milliseconds since 1970. Throws RangeError for a time without an instant. */
export function instantOf(at: Date | number): Instant {
  const text = new Date(at).toISOString();
  if (text.length !== instantLength) throw new RangeError(`${text} is not a year of an instant`);
  return text as Instant; // of this length, it has exactly this form
}

export function instantOrNull(at: Date | number | null): Instant | null {
  return at === null ? null : instantOf(at);
}

/** The version of a setting at its source. It rises with each change, so a late command changes nothing. */
export const ControlVersion = z.int().min(1).max(2_147_483_647);

const currencyCode = z.string().regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code');

/** The alphabetic code of a current currency in ISO 4217. */
export const Currency = currencyCode.refine(
  (code) => currencies.has(code),
  'must be a currency code that ISO 4217 lists',
);

/** The currency code of sealed evidence. The list of ISO 4217 changes, and evidence does not. */
export const RecordedCurrency = currencyCode;

/** Money in minor units of its currency. */
export const AmountMinor = z.int().min(0).max(1_000_000_000_000);

/** One line without surrounding blanks. */
function oneLine(lengthMax: number, pattern: RegExp) {
  return z
    .string()
    .min(1)
    .max(lengthMax)
    .regex(pattern, 'must not contain invisible characters')
    .refine((value) => value.trim() === value, 'must not begin or end with a blank');
}

/**
 * A name that a caller chooses, of a tenant, principal, session or tool. Rules, fences and votes compare names, so
 * names never differ only in invisible characters.
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
/** The resource of a call, as named by its caller: an address or a key of another system, in its spelling. */
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
/** The content was already checked when it was parsed. A check with z.json() would try six types for each value. */
export const PlainValue = z.unknown() as unknown as z.ZodType<PlainJson>;
export const PlainObject = z.record(z.string(), z.unknown()) as unknown as z.ZodType<Record<string, PlainJson>>;

/**
 * The most levels of arguments and context. The members that a policy reads are sealed a few levels deep in a line, and
 * readers accept up to 64 levels.
 */
export const argumentsDepthMax = 32;
/** Arguments and context of a call. */
export const CallMembers = PlainObject.refine(
  (members) => isWithin(members, argumentsDepthMax),
  `must not nest deeper than ${argumentsDepthMax} levels`,
);

/**
 * Arguments as a caller sends them. A value that is not an object is denied and not rejected, so that the call has a
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
