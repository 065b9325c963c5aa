import type { ListenConfig, PublicKey, ServiceConfig } from '@countersign/service-kit';
import type { ApproverKey } from './controls/approvals/approver-keys.ts';
import type { ModelSpendLimit } from './controls/budgets/installation-ceiling.ts';
import type { ModelPrices } from './doors/chat/prices.ts';
import type { McpServerConfig } from './doors/mcp/server-config.ts';
import type { OauthSettings } from './doors/oauth/oauth-tokens.ts';
import type { Witness } from './evidence/proof/ask-witness.ts';
import type { StdioAccount } from './controls/sandbox/stdio-account.ts';

export type KernelConfig = ServiceConfig &
  ListenConfig &
  Readonly<{
    /** The address at which people reach the kernel, for links to approvals. */
    publicUrl: string;
    /** `null` when there is no console, or it has the same address as the kernel. */
    consoleUrl: string | null;
    adminApiKey: string;
    serviceApiKey: string;
    /** The keys whose assertions identify callers. */
    assertionKeys: readonly PublicKey[];
    signingKeyPem: string;
    policyKeyPem: string;
    logKeyPem: string;
    /** `null` when no envelopes are signed. */
    evidenceKeyPem: string | null;
    tenantSaltSecret: string;
    logOrigin: string;
    /** The witnesses that are requested to cosign each checkpoint. */
    witnesses: readonly Witness[];
    /** The root key that signs trust lists, in base64url. `null` when kernels publish their own keys. */
    trustRoot: string | null;
    /** `null` when policies are set only by the API. */
    policyFile: string | null;
    policyFileIntervalMs: number;
    policyAgeMaxMs: number;
    relationsAgeMaxMs: number;
    /** Keys that may sign activations, besides the kernel's own. */
    policyKeys: readonly PublicKey[];
    approverKeys: readonly ApproverKey[];
    /** `url` is `null` when no model server is configured. `streamMs`: the time limit of a whole streamed answer. */
    upstream: Readonly<{ url: string | null; apiKey: string | null; timeoutMs: number; streamMs: number }>;
    /** The model of an AG-UI run that specifies none. `null` when each run must specify its own. */
    agentUiModel: string | null;
    modelPrices: ModelPrices;
    /** The currency of the prices. `null` when it is not configured. */
    priceCurrency: string | null;
    /** The limit on the cost of models. `null` keeps the limit that was configured before. */
    modelSpend: ModelSpendLimit | null;
    mcpServers: readonly McpServerConfig[];
    /** `null` when MCP servers over stdio run under the kernel's own account, or there are none. */
    stdioAccount: StdioAccount | null;
    /** The account of sandboxed programs. `null` for the kernel's own account. */
    sandboxAccount: StdioAccount | null;
    bwrapPath: string | null;
    /** `null` when OAuth access tokens are not accepted. */
    oauth: Readonly<OauthSettings> | null;
    mcpReachesPrivate: boolean;
    mcpTimeoutMs: number;
    sealingTimeoutMs: number;
    mcpListAgeMaxMs: number;
    /** 0 when an escalated call is refused at once. */
    mcpApprovalWaitMs: number;
    hasDemo: boolean;
    checkpointReceiptsMax: number;
    checkpointIntervalMs: number;
    dispatchDeadlineMs: number;
    selfTestDecisions: number;
    conformanceIntervalMs: number;
  }>;

type DispatchTimes = Pick<KernelConfig, 'upstream' | 'mcpTimeoutMs' | 'sealingTimeoutMs'>;

/**
 * How long a call without a streamed answer can be in progress. It is the sum of the time limits of the model server,
 * of a tool call, and of judging and sealing.
 */
export function dispatchMsMax({ upstream, ...times }: DispatchTimes): number {
  return upstream.timeoutMs + toolCallMsMax(times);
}

/** How long a tool call can be in progress until its outcome is sealed. */
export function toolCallMsMax({ mcpTimeoutMs, sealingTimeoutMs }: Omit<DispatchTimes, 'upstream'>): number {
  return mcpTimeoutMs + sealingTimeoutMs;
}
