-- The tables, as an application's migrations would make them. The provider makes
-- none: it decides who may do what with them.

CREATE TABLE public.products (
    name text PRIMARY KEY,
    price numeric NOT NULL
);
INSERT INTO public.products VALUES ('bolt', 0.20), ('nut', 0.10), ('washer', 0.05), ('wrench', 12.50);

CREATE TABLE public.orders (
    id integer PRIMARY KEY,
    region text, -- null while nobody has it
    product text NOT NULL REFERENCES public.products,
    quantity integer NOT NULL
);
INSERT INTO public.orders VALUES
    (1, 'emea', 'bolt', 1000), (2, 'emea', 'nut', 1000), (3, 'emea', 'wrench', 2),
    (4, 'amer', 'bolt', 500), (5, 'amer', 'washer', 500),
    (6, NULL, 'wrench', 1);

CREATE SCHEMA analytics;
CREATE TABLE analytics.revenue (
    month date PRIMARY KEY,
    amount numeric NOT NULL
);
INSERT INTO analytics.revenue VALUES ('2026-01-01', 1400), ('2026-02-01', 1550), ('2026-03-01', 1720);

CREATE SCHEMA company_data;
CREATE TABLE company_data.salaries (
    person text PRIMARY KEY,
    amount numeric NOT NULL
);
INSERT INTO company_data.salaries VALUES ('alice', 9000), ('emma', 7000);
