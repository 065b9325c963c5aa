import type { ListenConfig, PublicKey, ServiceConfig } from '@countersign/service-kit';
import type { ApproverKey } from './approvals/approver-keys.ts';
import type { ModelSpendLimit } from './budgets/installation-ceiling.ts';
import type { ModelPrices } from './chat/prices.ts';
import type { McpServerConfig } from './mcp/server-config.ts';
import type { OauthSettings } from './oauth/oauth-tokens.ts';
import type { StdioAccount } from './sandbox/stdio-account.ts';

export type KernelConfig = ServiceConfig &
  ListenConfig &
  Readonly<{
    /** Where people reach the kernel, for links to approvals. */
    publicUrl: string;
    /** Null: people reach no console, or the kernel by the same address. */
    consoleUrl: string | null;
    adminApiKey: string;
    serviceApiKey: string;
    /** The keys whose assertions identify callers. */
    assertionKeys: readonly PublicKey[];
    signingKeyPem: string;
    policyKeyPem: string;
    logKeyPem: string;
    /** `null`: no envelopes are signed. */
    evidenceKeyPem: string | null;
    tenantSaltSecret: string;
    logOrigin: string;
    /** The root key that signs trust lists, base64url. `null`: kernels publish their own keys. */
    trustRoot: string | null;
    /** Null: policies come by the API alone. */
    policyFile: string | null;
    policyFileIntervalMs: number;
    policyAgeMaxMs: number;
    relationsAgeMaxMs: number;
    /** They may sign activations, beside the kernel's own. */
    policyKeys: readonly PublicKey[];
    approverKeys: readonly ApproverKey[];
    /** `url` null: no model server is configured. `streamMs`: of a streamed answer in all. */
    upstream: Readonly<{ url: string | null; apiKey: string | null; timeoutMs: number; streamMs: number }>;
    /** The model of an AG-UI run that names none. `null` when each run must name its own. */
    agentUiModel: string | null;
    modelPrices: ModelPrices;
    /** The currency of the prices. `null` when it is not configured. */
    priceCurrency: string | null;
    /** Null: what was set before stays. */
    modelSpend: ModelSpendLimit | null;
    mcpServers: readonly McpServerConfig[];
    /** Null: MCP servers over stdio, if any, are programs of the kernel's own account. */
    stdioAccount: StdioAccount | null;
    /** The account of sandboxed programs. `null`: that of the kernel. */
    sandboxAccount: StdioAccount | null;
    bwrapPath: string | null;
    /** Null: no access tokens of OAuth are accepted. */
    oauth: Readonly<OauthSettings> | null;
    mcpReachesPrivate: boolean;
    mcpTimeoutMs: number;
    sealingTimeoutMs: number;
    mcpListAgeMaxMs: number;
    /** 0: an escalated call is refused at once. */
    mcpApprovalWaitMs: number;
    hasDemo: boolean;
    checkpointReceiptsMax: number;
    checkpointIntervalMs: number;
    dispatchDeadlineMs: number;
    selfTestDecisions: number;
    conformanceIntervalMs: number;
  }>;

type DispatchTimes = Pick<KernelConfig, 'upstream' | 'mcpTimeoutMs' | 'sealingTimeoutMs'>;

/** How long a whole answer can stay unsettled in a process that lives: the answer of the model, judging it, sealing. */
export function dispatchMsMax({ upstream, mcpTimeoutMs, sealingTimeoutMs }: DispatchTimes): number {
  return upstream.timeoutMs + mcpTimeoutMs + sealingTimeoutMs;
}
