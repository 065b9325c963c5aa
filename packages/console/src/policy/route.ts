// The sheet loads with the page, and not with the console.
import './policy.css';

export { PolicyPage } from './policy-page.tsx';
