import { UserId } from '@countersign/contracts';
import { BillingPlanId, InstallationId, selfHostedPlanId } from '@countersign/contracts/commercial-gateway';
import {
  ConfigError,
  list,
  listenConfigOf,
  listenVariables,
  readConfig,
  readPublicKeys,
  secret,
  serviceConfigOf,
  serviceVariables,
  sound,
  url,
  type Environment,
  type ListenConfig,
  type PublicKey,
  type ServiceConfig,
} from '@countersign/service-kit';
import { RootKey } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { latestPlan } from './billing/plan-catalog.ts';
import { termsOfPlan, type EntitlementTerms } from './entitlements/entitlement-terms.ts';

const prefix = 'GOV_COMMERCIAL';

export const commercialVariables = z.object({
  ...serviceVariables,
  ...listenVariables({ prefix, title: 'commercial gateway', port: 3300 }),
  GOV_CONTROL_PLANE_URL: url().describe(
    'Address of the control plane for this service. The control plane stores the organisations.',
  ),
  GOV_GATEWAY_URL: url().describe('Address of the gateway for this service. The basic API acts there as its caller.'),
  GOV_GATEWAY_PUBLIC_URL: url()
    .optional()
    .meta({ fallback: 'GOV_GATEWAY_URL' })
    .describe(
      'Scheme, host and port at which identity providers reach the gateway. Addresses of SCIM resources begin with it.',
    ),
  GOV_GOVERNANCE_URL: url().describe(
    'Address of the governance kernel for this service. Usage is counted from its receipts.',
  ),
  GOV_SERVICE_API_KEY: secret().describe(
    'Key that sibling services present to each other on routes below `/internal`.',
  ),
  GOV_ASSERTION_KEYS: list().describe(
    'Ed25519 public keys (base64url) of gateways; several are allowed during a rotation. Without one, every caller is refused.',
  ),
  GOV_TRUSTED_PUBLIC_KEYS: list().describe(
    'Ed25519 public keys (base64url) of the kernel. They verify the receipts in compliance reports. Without one, the keys that the kernel publishes at the first use are pinned.',
  ),
  GOV_TRUST_ROOT: RootKey.optional()
    .meta({ type: 'Ed25519 public key, base64url' })
    .describe(
      'Your offline root key (public half). Compliance reports verify receipts with the trust list that it signed, instead of `GOV_TRUSTED_PUBLIC_KEYS`.',
    ),
  GOV_INSTALLATION_ADMINS: list().describe(
    'User ids (`usr_…`) of the administrators of this installation. They can view and suspend all organisations and grant credits.',
  ),
  GOV_INSTALLATION_ID: InstallationId.optional().describe(
    'Name of this installation in licences. Without it, no licence can be activated.',
  ),
  GOV_LICENCE_PUBLIC_KEYS: list().describe(
    'Ed25519 public keys (base64url) of issuers of licences. A licence of a removed key no longer applies.',
  ),
  GOV_BILLING_TAX_PERCENT: z
    .string()
    .regex(/^\d{1,2}(\.\d{1,4})?$/, 'must be a percentage such as 19 or 8.1')
    .optional()
    .describe('Tax on invoices in percent, such as `19` or `8.1`. Without it, invoices have no tax.'),
  GOV_BILLING_WEBHOOK_SECRET: secret()
    .optional()
    .describe(
      'Secret that signs the events of an accounting system that reports transfers. Without it, no such event is accepted.',
    ),
  GOV_BILLING_RETURN_URL: url()
    .optional()
    .meta({ requiredWhen: 'with GOV_STRIPE_SECRET_KEY' })
    .describe('Address to which the payer returns after a checkout: the billing page of the console.'),
  GOV_STRIPE_SECRET_KEY: secret({ lengthMin: 16 })
    .optional()
    .describe('Secret key of the Stripe account that charges invoices. Without it, organisations pay by transfer.'),
  GOV_STRIPE_WEBHOOK_SECRET: secret({ lengthMin: 16 })
    .optional()
    .meta({ requiredWhen: 'with GOV_STRIPE_SECRET_KEY' })
    .describe('Signing secret (`whsec_…`) of the Stripe webhook `/api/billing/webhooks/stripe`.'),
  GOV_STRIPE_API_URL: url()
    .default('https://api.stripe.com')
    .describe('Address of the Stripe API: scheme, host and port.'),
  GOV_BASE_PLAN: BillingPlanId.default(BillingPlanId.parse(selfHostedPlanId)).describe(
    'Plan of organisations without a subscription, trial or licence. `self_hosted` has no limits; use `free` to sell plans.',
  ),
});

export type CommercialConfig = ServiceConfig &
  ListenConfig &
  Readonly<{
    controlPlaneUrl: string;
    gatewayUrl: string;
    governanceUrl: string;
    /** The public base URL of SCIM, which identity providers use. */
    scimBaseUrl: string;
    serviceApiKey: string;
    /** Public keys that verify the assertions of callers. */
    assertionKeys: readonly PublicKey[];
    /** Public keys of the kernel, base64url. Unused when `trustRoot` is set. */
    trustedPublicKeys: readonly string[];
    /** The root key of the trust list. `null` when keys are pinned. */
    trustRoot: string | null;
    installationAdmins: ReadonlySet<UserId>;
    entitlementTerms: EntitlementTerms;
    billing: BillingConfig;
  }>;

type BillingConfig = Readonly<{
  /** `null` when invoices have no tax. */
  taxPercent: string | null;
  /** `null` when no accounting system reports transfers. */
  manualSecret: string | null;
  /** `null` when organisations pay by transfer. */
  stripe: Readonly<{ secretKey: string; webhookSecret: string; apiUrl: string; returnUrl: string }> | null;
}>;

/**
 * Reads the environment. Throws ConfigError. One error names all malformed variables. The checks that follow throw at
 * the first problem.
 */
export function commercialConfigFrom(env: Environment = process.env): CommercialConfig {
  const read = readConfig(commercialVariables, env, { prefix: 'GOV_' });
  const shared = serviceConfigOf(read);
  const listen = listenConfigOf(prefix, read);
  return Object.freeze({
    ...shared,
    ...listen,
    allowedHosts: [...shared.allowedHosts, listen.host],
    controlPlaneUrl: read.GOV_CONTROL_PLANE_URL,
    gatewayUrl: read.GOV_GATEWAY_URL,
    governanceUrl: read.GOV_GOVERNANCE_URL,
    scimBaseUrl: new URL('/scim/v2', read.GOV_GATEWAY_PUBLIC_URL ?? read.GOV_GATEWAY_URL).href,
    serviceApiKey: read.GOV_SERVICE_API_KEY,
    assertionKeys: sound('GOV_ASSERTION_KEYS', () => readPublicKeys(read.GOV_ASSERTION_KEYS)),
    trustedPublicKeys: trustedKeysOf(read.GOV_TRUSTED_PUBLIC_KEYS),
    trustRoot: read.GOV_TRUST_ROOT ?? null,
    installationAdmins: new Set(read.GOV_INSTALLATION_ADMINS.map(readUserId)),
    entitlementTerms: {
      basePlan: readBasePlan(read.GOV_BASE_PLAN),
      installation: read.GOV_INSTALLATION_ID ?? null,
      licenceKeys: sound('GOV_LICENCE_PUBLIC_KEYS', () => readPublicKeys(read.GOV_LICENCE_PUBLIC_KEYS)),
    },
    billing: readBilling(read),
  });
}

function trustedKeysOf(texts: string[]): readonly string[] {
  sound('GOV_TRUSTED_PUBLIC_KEYS', () => readPublicKeys(texts));
  return texts;
}

function readUserId(text: string): UserId {
  const id = UserId.safeParse(text);
  if (id.success) return id.data;
  throw new ConfigError([
    `GOV_INSTALLATION_ADMINS contains ${text}, which is not a user id such as usr_01ARZ3NDEKTSV4RRFFQ69G5FAV`,
  ]);
}

function readBasePlan(id: BillingPlanId): EntitlementTerms['basePlan'] {
  const plan = latestPlan(id);
  if (plan !== null) return termsOfPlan(plan);
  throw new ConfigError([`GOV_BASE_PLAN is ${id}, which is not a plan of the catalogue. Use self_hosted or free`]);
}

function readBilling(read: z.infer<typeof commercialVariables>): BillingConfig {
  const { GOV_STRIPE_SECRET_KEY: secretKey, GOV_STRIPE_WEBHOOK_SECRET: webhookSecret } = read;
  const { GOV_BILLING_RETURN_URL: returnUrl, GOV_STRIPE_API_URL: apiUrl } = read;
  const shared = {
    taxPercent: read.GOV_BILLING_TAX_PERCENT ?? null,
    manualSecret: read.GOV_BILLING_WEBHOOK_SECRET ?? null,
  };
  if (secretKey === undefined) return { ...shared, stripe: null };
  if (webhookSecret === undefined || returnUrl === undefined)
    throw new ConfigError([
      'GOV_STRIPE_SECRET_KEY is set, so GOV_STRIPE_WEBHOOK_SECRET and GOV_BILLING_RETURN_URL must be set too',
    ]);
  return { ...shared, stripe: { secretKey, webhookSecret, apiUrl, returnUrl } };
}
