import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import {
  ApprovalId,
  CallArguments,
  Digest,
  Instant,
  PrincipalId,
  ReceiptId,
  SandboxGrantId,
  SessionId,
  storableText,
  TenantId,
  ToolName,
} from '../scalars.ts';
import { DecisionReply } from './evaluate.ts';
import { McpServerId } from './mcp-registry.ts';

export const SandboxProfileName = z.enum(['bubblewrap', 'node-permission', 'none']);
export type SandboxProfileName = z.infer<typeof SandboxProfileName>;

/** An absolute path in its shortest form, so that each path has one spelling. */
const HostPath = storableText({ min: 2, max: 1_024 }).refine(
  (path) => path.startsWith('/') && !/\/\.{0,2}(?:\/|$)/.test(path),
  'must be an absolute path without ., .., empty parts or an end slash',
);

export const Preopen = z.strictObject({
  /** The path on the host. */
  path: HostPath,
  /** `ro`: the process can read. `rw`: it can also write. */
  mode: z.enum(['ro', 'rw']),
});
export type Preopen = z.infer<typeof Preopen>;

/** `host:port`. A host is a name or an address. */
export const SandboxDestination = z
  .string()
  .max(259)
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:.]+\]):[1-9][0-9]{0,4}$/,
    'must be host:port in lower-case letters',
  );

const EnvironmentName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'must be the name of a variable');

const mebibyte = 1_048_576;

/**
 * Limits of memory, CPU time and open files apply per process. `data_bytes` limits the data folder, and `file_bytes`
 * one file.
 */
export const SandboxLimits = z.strictObject({
  memory_bytes: z
    .int()
    .min(16 * mebibyte)
    .max(64 * 1_024 * mebibyte)
    .default(1_024 * mebibyte),
  processes: z.int().min(1).max(4_096).default(64),
  cpu_seconds: z.int().min(1).max(2_592_000).default(3_600),
  open_files: z.int().min(16).max(65_536).default(1_024),
  file_bytes: z
    .int()
    .min(0)
    .max(1_099_511_627_776)
    .default(256 * mebibyte),
  data_bytes: z
    .int()
    .min(mebibyte)
    .max(64 * 1_024 * mebibyte)
    .default(256 * mebibyte),
});
export type SandboxLimits = z.infer<typeof SandboxLimits>;

/** The terms of the grant, which its hash covers. */
const termsShape = {
  profile: SandboxProfileName.default('bubblewrap'),
  preopens: z.array(Preopen).max(64).default([]),
  /** The names of configuration variables that the server's process receives. */
  env: z.array(EnvironmentName).max(128).default([]),
  network: z.array(SandboxDestination).max(64).default([]),
  limits: SandboxLimits.prefault({}),
};
export const SandboxTerms = z.strictObject(termsShape);
export type SandboxTerms = z.infer<typeof SandboxTerms>;

/** A tenant's MCP server over stdio, or a tool that callers execute themselves. */
export const SandboxSubject = z.union([z.strictObject({ server_id: McpServerId }), z.strictObject({ tool: ToolName })]);
export type SandboxSubject = z.infer<typeof SandboxSubject>;

export const SandboxGrant = z.strictObject({
  grant_id: SandboxGrantId,
  tenant_id: TenantId,
  subject: SandboxSubject,
  ...SandboxTerms.shape,
  /** SHA-256 of the canonical JSON of profile, preopens, env, network and limits. */
  grant_hash: Digest,
  state: z.enum(['active', 'expired']),
  created_by: PrincipalId,
  created_at: Instant,
  expires_at: Instant,
  /** The receipt that sealed the grant. */
  receipt_id: ReceiptId,
});
export type SandboxGrant = z.infer<typeof SandboxGrant>;

const TenantQuery = { tenant_id: z.string().optional() };
const reads = { auth: 'tenant_scoped', assertedBy: ['member', 'partner', 'owner'] } as const;
const GrantParams = z.strictObject({ grant_id: SandboxGrantId });

/** The result of the probe in the sandbox. `contained` requires that the same attempt succeeded outside. */
const ProbeResult = z.strictObject({
  attempt: z.enum(['read_outside', 'see_processes', 'open_network', 'start_process']),
  inside: z.enum(['succeeded', 'failed', 'unknown']),
  outside: z.enum(['succeeded', 'failed', 'unknown']),
  contained: z.boolean(),
});
export type ProbeResult = z.infer<typeof ProbeResult>;

export const SandboxProfile = z.strictObject({
  profile: SandboxProfileName,
  /** Whether this host supports the profile, according to the last probe. */
  available: z.boolean(),
  strength: z.enum(['isolated', 'weak', 'none']),
  /** Why the profile is not available, or which accesses it does not block. */
  detail: z.string(),
  probe: z.array(ProbeResult),
  probed_at: Instant.nullable(),
});
export type SandboxProfile = z.infer<typeof SandboxProfile>;

export const listSandboxProfiles = defineRoute({
  operation: 'list-sandbox-profiles',
  summary:
    'List the sandbox profiles of this host. A profile is available only if its probe succeeded outside the ' +
    'sandbox and failed inside.',
  method: 'GET',
  path: '/api/v1/sandbox/profiles',
  ...reads,
  query: z.strictObject(TenantQuery),
  reply: z.strictObject({ profiles: z.array(SandboxProfile) }),
});

export const listSandboxGrants = defineRoute({
  operation: 'list-sandbox-grants',
  summary:
    'List the sandbox grants of the tenant by subject. Replaced grants are only in the records that sealed them.',
  method: 'GET',
  path: '/api/v1/sandbox/grants',
  ...reads,
  query: z.strictObject({ ...TenantQuery, ...PageQuery }),
  reply: page(SandboxGrant),
});

/**
 * The longest lifetime of a grant, a quarter of a year. After a longer time, people would no longer remember why they
 * granted it.
 */
export const grantSecondsMax = 90 * 86_400;

export const createSandboxGrant = defineRoute({
  operation: 'create-sandbox-grant',
  summary:
    'Grant paths, destinations, variables and limits to a server or a tool, sealed. The grant replaces the ' +
    'earlier one. A running server restarts under it.',
  method: 'POST',
  path: '/api/v1/sandbox/grants',
  auth: 'tenant_scoped',
  idempotency: 'key',
  query: z.strictObject(TenantQuery),
  body: z.strictObject({
    subject: SandboxSubject,
    ...termsShape,
    expires_in_seconds: z.int().min(1).max(grantSecondsMax),
  }),
  status: 201,
  reply: SandboxGrant,
  errors: ['INVALID_REQUEST', 'NOT_FOUND', 'LIMIT_REACHED', 'PERMISSION_DENIED', 'RECEIPT_STORE_UNAVAILABLE'],
});

export const getSandboxGrant = defineRoute({
  operation: 'get-sandbox-grant',
  summary: 'Get a sandbox grant of the tenant.',
  method: 'GET',
  path: '/api/v1/sandbox/grants/{grant_id}',
  ...reads,
  params: GrantParams,
  query: z.strictObject(TenantQuery),
  reply: SandboxGrant,
  errors: ['NOT_FOUND'],
});

const GrantFinding = z.strictObject({
  code: z.enum(['HASH_MISMATCH', 'RECEIPT_MISMATCH', 'EXPIRED', 'CONFIGURATION_CHANGED', 'NOT_OFFERED']),
  detail: z.string(),
});
export type GrantFinding = z.infer<typeof GrantFinding>;

export const verifySandboxGrant = defineRoute({
  operation: 'verify-sandbox-grant',
  summary:
    'Verify a sandbox grant: its stored terms, its receipt, its expiry, and whether this host supports its ' +
    'profile and paths.',
  method: 'POST',
  path: '/api/v1/sandbox/grants/{grant_id}/verify',
  ...reads,
  idempotency: { exempt: 'reads' },
  params: GrantParams,
  query: z.strictObject(TenantQuery),
  body: z.strictObject({}),
  reply: z.strictObject({
    grant_id: SandboxGrantId,
    grant_hash: Digest,
    dispatch_ready: z.boolean(),
    findings: z.array(GrantFinding),
    checked_at: Instant,
  }),
  errors: ['NOT_FOUND'],
});

/** The accesses that a process needs. */
export const SandboxRequest = z.strictObject({
  profile: SandboxProfileName.optional(),
  preopens: z.array(Preopen).max(64).default([]),
  env: z.array(EnvironmentName).max(128).default([]),
  network: z.array(SandboxDestination).max(64).default([]),
  limits: z.partialRecord(SandboxLimits.keyof(), z.int().min(0)).default({}),
});
export type SandboxRequest = z.infer<typeof SandboxRequest>;

export const preflightSandbox = defineRoute({
  operation: 'preflight-sandbox',
  summary:
    'Decide whether a tool may run with the requested access. A request beyond its grant is denied with ' +
    'SANDBOX_OVERGRANT and sealed.',
  method: 'POST',
  path: '/api/v1/sandbox/preflight',
  auth: 'tenant_scoped',
  assertedBy: ['agent'],
  forward: { opensTo: 'agent' },
  governed: true,
  door: 'evaluate',
  idempotency: 'key',
  query: z.strictObject(TenantQuery),
  body: z.strictObject({
    tool: ToolName,
    session_id: SessionId,
    args: CallArguments.default({}),
    approval_grant: ApprovalId.optional(),
    /** The grant that the caller read. If another grant is in force, the request is beyond the grant. */
    grant_hash: Digest.optional(),
    request: SandboxRequest.prefault({}),
  }),
  reply: DecisionReply,
  errors: ['IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_IN_FLIGHT', 'RECEIPT_STORE_UNAVAILABLE'],
});

export const inspectSandboxGrant = defineRoute({
  operation: 'inspect-sandbox-grant',
  summary: 'Get the sandbox terms of a server or a tool now: its grant, or the default for commands.',
  method: 'GET',
  path: '/api/v1/sandbox/grants/inspect',
  ...reads,
  query: z.strictObject({ ...TenantQuery, server_id: McpServerId.optional(), tool: ToolName.optional() }),
  reply: z.strictObject({
    subject: SandboxSubject,
    source: z.enum(['grant', 'default', 'configuration', 'none']),
    grant_id: SandboxGrantId.nullable(),
    grant_hash: Digest.nullable(),
    terms: SandboxTerms.nullable(),
    expires_at: Instant.nullable(),
    /**
     * `true` when nothing runs under the grant, because it has expired or the server's configuration has changed since.
     */
    has_expired: z.boolean(),
    /** The accesses beyond the grant that the server's configuration needs. Calls of the server are denied. */
    overgrants: z.array(z.string()),
  }),
  errors: ['INVALID_REQUEST', 'NOT_FOUND'],
});
