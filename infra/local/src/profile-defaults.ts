/** Each workspace has a ceiling of spend, so a model without a price would be refused: every model costs this until somebody says more. */
const priceOfAnyModel = JSON.stringify({
  '*': {
    input_per_million_minor: 300,
    output_per_million_minor: 1_500,
    output_tokens_max: 64_000,
    input_tokens_max: 200_000,
  },
});

/** What `make up` sets for the kernel unless the person who starts it does. */
export const kernelDefaults = {
  GOV_LOG_LEVEL: 'warn',
  // No load balancer stands before it, and whoever pressed Ctrl-C waits.
  GOV_STOP_NOTICE: '0s',
  GOV_DEMO: '1',
  // Whoever edits a policy looks at the terminal and waits.
  GOV_POLICY_FILE_INTERVAL: '1s',
  GOV_MODEL_PRICES: priceOfAnyModel,
} as const;

/** What `make up` sets for the control plane unless the person who starts it does. */
export const controlPlaneDefaults = {
  GOV_LOG_LEVEL: 'warn',
  GOV_STOP_NOTICE: '0s',
  NODE_ENV: 'development',
} as const;

/** What `make up` sets for the gateway unless the person who starts it does. */
export const gatewayDefaults = {
  GOV_LOG_LEVEL: 'warn',
  GOV_STOP_NOTICE: '0s',
  NODE_ENV: 'development',
  GOV_WEBHOOKS_REACH_PRIVATE: '1',
  GOV_FAIL_CLOSED: '1',
} as const;
