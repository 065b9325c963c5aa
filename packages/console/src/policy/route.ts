// The style sheet loads with the page, not with the console.
import './policy.css';

export { PolicyPage } from './policy-page.tsx';
