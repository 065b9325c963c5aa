import { z } from 'zod';
import { DecisionId, Digest, Instant, PrincipalId, SessionId, ToolName } from '../scalars.ts';

/*
 * `countersign/host-chain.v1`: what a recorder beside the boundary saw, such as a host agent or an eBPF logger. Its
 * hash is the SHA-256 of the line `countersign.host-chain.v1`, its line feed included, and the canonical JSON
 * (RFC 8785) of the chain.
 */

/** The greatest request to import a chain; a longer recording is sent as several chains. */
export const hostChainBytesMax = 1_048_576;
export const hostChainValuesMax = 20_000;
const hostReceiptsMax = 200;

/** A name in a recorder's words. It is shown to people. */
const RecorderName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,127}$/, 'may hold letters, digits and . _ : @ / + -');

/** Lower case, without a dot at the end. */
const HostName = z
  .string()
  .max(253)
  .regex(
    /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/,
    'must be a host in lower case',
  );
const Address = z.union([z.ipv4(), z.ipv6()]);
const ByteCount = z.int().min(0).max(1_000_000_000_000_000);

export const HostSignature = z.strictObject({
  alg: z.enum(['Ed25519', 'ES256']),
  key_id: RecorderName,
  /**
   * Base64url without padding, 64 bytes: over the line `countersign.host-receipt.v1`, its line feed included, and the
   * canonical JSON that `receipt_hash` is of. For ES256 the two numbers of the signature, one behind the other.
   */
  value: z.string().regex(/^[A-Za-z0-9_-]{86}$/),
});

/**
 * A claim that hardware vouches for the recorder. It is kept, and its outer form is checked where the kind is known: this
 * kernel verifies no hardware root, so a receipt with one is never `verified`.
 */
export const HardwareRoot = z.strictObject({
  /** `TPM2`, `AWS_NITRO`, `AMD_SEV_SNP`, `INTEL_TDX`, `APPLE_SEP`, or any other name. */
  kind: z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'must be a name in upper case'),
  /** Base64. */
  evidence: z.base64().min(4).max(32_768),
});
export type HardwareRoot = z.infer<typeof HardwareRoot>;

/** The actor, as far as the recorder knows it. Each member that is there is compared with the decision. */
export const HostSubject = z.strictObject({
  decision_id: DecisionId.optional(),
  session_id: SessionId.optional(),
  agent_id: PrincipalId.optional(),
  /** The MCP server that the workload is. */
  mcp_server_id: RecorderName.optional(),
  /** The grant of the sandbox that it ran in. */
  sandbox_grant_hash: Digest.optional(),
  /** The `context.workload_id` of a call, where the policy reads it. */
  workload_id: RecorderName.optional(),
});

export const HostEvent = z
  .strictObject({
    kind: z.literal('network_egress'),
    /** When it began, by the clock of the host. */
    observed_at: Instant,
    /** The name that the host asked for, by TLS or DNS. */
    destination_host: HostName.optional(),
    destination_ip: Address.optional(),
    destination_port: z.int().min(1).max(65_535),
    protocol: z.enum(['tcp', 'udp', 'other']),
    /** The bytes of this event alone, and not of all before it. */
    bytes_sent: ByteCount,
    bytes_received: ByteCount,
  })
  .refine(
    ({ destination_host: host, destination_ip: ip }) => host !== undefined || ip !== undefined,
    'must have destination_host or destination_ip',
  );

/**
 * `receipt_hash` is the SHA-256 of the line `countersign.host-receipt.v1`, its line feed included, and the canonical JSON
 * (RFC 8785) of `{ chain_id, receipt }`, where `receipt` is without its `receipt_hash` and `signature`.
 */
export const HostReceipt = z.strictObject({
  receipt_id: RecorderName,
  host_id: RecorderName,
  /** `receipt_hash` of the predecessor. The first of a recorder has `null`. */
  prev_receipt_hash: Digest.nullable(),
  subject: HostSubject,
  process: z.strictObject({ identity: ToolName, ancestry: z.array(ToolName).max(16) }).optional(),
  event: HostEvent,
  hardware_root: HardwareRoot.optional(),
  receipt_hash: Digest,
  signature: HostSignature.optional(),
});
export type HostReceipt = z.infer<typeof HostReceipt>;

export const HostChain = z.strictObject({
  schema_version: z.literal('countersign/host-chain.v1'),
  chain_id: RecorderName,
  source: z.strictObject({ vendor: RecorderName, profile: RecorderName }),
  receipts: z.array(HostReceipt).min(1).max(hostReceiptsMax),
});
export type HostChain = z.infer<typeof HostChain>;

/** A public key of a recorder: base64url without padding. Ed25519 has 32 bytes, ES256 the uncompressed point of 65. */
export const RecorderKey = z.discriminatedUnion('alg', [
  z.strictObject({
    key_id: RecorderName,
    alg: z.literal('Ed25519'),
    public_key: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  }),
  z.strictObject({
    key_id: RecorderName,
    alg: z.literal('ES256'),
    public_key: z.string().regex(/^[A-Za-z0-9_-]{87}$/),
  }),
]);
export type RecorderKey = z.infer<typeof RecorderKey>;
