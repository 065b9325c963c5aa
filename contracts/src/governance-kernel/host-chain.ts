import { z } from 'zod';
import { DecisionId, Digest, Instant, PrincipalId, SessionId, ToolName } from '../scalars.ts';

/*
 * `countersign/host-chain.v1`: the events that a recorder beside the boundary observed, such as a host agent or an eBPF
 * logger. Its hash is the SHA-256 of the line `countersign.host-chain.v1`, including its line feed, and the canonical
 * JSON (RFC 8785) of the chain.
 */

/** The largest request for the import of a chain. A longer recording is sent as several chains. */
export const hostChainBytesMax = 1_048_576;
export const hostChainValuesMax = 20_000;
const hostReceiptsMax = 200;

/** A name that the recorder chose. It is shown to people. */
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
   * The signature in base64url without padding, 64 bytes. It covers the line `countersign.host-receipt.v1`, including
   * its line feed, and the canonical JSON of which `receipt_hash` is the hash. For ES256, the two numbers of the
   * signature are concatenated.
   */
  value: z.string().regex(/^[A-Za-z0-9_-]{86}$/),
});

/**
 * A claim that hardware vouches for the recorder. It is stored, and its format is checked for known kinds. This kernel
 * verifies no hardware root, so a receipt with a claim is never `verified`.
 */
export const HardwareRoot = z.strictObject({
  /** `TPM2`, `AWS_NITRO`, `AMD_SEV_SNP`, `INTEL_TDX`, `APPLE_SEP`, or any other name. */
  kind: z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'must be a name in upper case'),
  /** Base64. */
  evidence: z.base64().min(4).max(32_768),
});
export type HardwareRoot = z.infer<typeof HardwareRoot>;

/** The actor, as far as the recorder knows it. Each present member is compared with the decision. */
export const HostSubject = z.strictObject({
  decision_id: DecisionId.optional(),
  session_id: SessionId.optional(),
  agent_id: PrincipalId.optional(),
  /** The MCP server, if the workload is one. */
  mcp_server_id: RecorderName.optional(),
  /** The hash of the sandbox grant of the workload. */
  sandbox_grant_hash: Digest.optional(),
  /** The `context.workload_id` of a call, where the policy reads it. */
  workload_id: RecorderName.optional(),
});

export const HostEvent = z
  .strictObject({
    kind: z.literal('network_egress'),
    /** The start of the event, by the clock of the host. */
    observed_at: Instant,
    /** The name that the host requested by TLS or DNS. */
    destination_host: HostName.optional(),
    destination_ip: Address.optional(),
    destination_port: z.int().min(1).max(65_535),
    protocol: z.enum(['tcp', 'udp', 'other']),
    /** The bytes of this event, without earlier events. */
    bytes_sent: ByteCount,
    bytes_received: ByteCount,
  })
  .refine(
    ({ destination_host: host, destination_ip: ip }) => host !== undefined || ip !== undefined,
    'must have destination_host or destination_ip',
  );

/**
 * `receipt_hash` is the SHA-256 of the line `countersign.host-receipt.v1`, including its line feed, and the canonical
 * JSON (RFC 8785) of `{ chain_id, receipt }`. That `receipt` has no `receipt_hash` and no `signature`.
 */
export const HostReceipt = z.strictObject({
  receipt_id: RecorderName,
  host_id: RecorderName,
  /** `receipt_hash` of the predecessor. `null` in the first receipt of a recorder. */
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
