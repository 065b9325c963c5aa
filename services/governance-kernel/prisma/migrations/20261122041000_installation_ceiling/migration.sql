-- What models may cost all tenants together is a budget of nobody's: no tenant can have its name, and it is the only one without a tenant.
ALTER TABLE "budgets" ADD CONSTRAINT "budgets_of_everybody" CHECK (("tenant_id" = '*') = ("budget_id" = 'ceiling.installation'));
