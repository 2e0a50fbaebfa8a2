"""Realistic tables, made with a seed, and what each of their columns is: the truth that guesses are held against.

Each column has its meaning and its type. The types of columns that are never published do not matter and are None.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from made_columns import CITIES, FIRST, ICD, LAST, STREETS, Maker, repeat

Truth = dict[str, tuple[str, str | None]]


def read_truth(text: str) -> Truth:
    """Read lines of a meaning, a type where it matters, and the columns that have both."""
    truth: Truth = {}
    for line in text.strip().splitlines():
        what, _, names = line.partition(":")
        meaning, _, kind = what.strip().partition(", ")
        truth |= dict.fromkeys(names.split(), (meaning, kind or None))
    return truth


def hospital_visits() -> tuple[pl.DataFrame, Truth]:
    people, visits = Maker(1, 900), Maker(2, 2500)
    patients = pl.DataFrame(
        {
            "patient_id": people.numbers(7, "P"),
            "patient_name": people.names(),
            "date_of_birth": people.days("1930-01-01", "2015-12-31"),
            "sex": people.coin("F", "M", 0.52),
            "zip": people.zips(),
            "insurance_number": people.numbers(9),
            "phone": people.phones(),
            "hiv_status": people.coin("positive", "negative", 0.02),
        }
    )
    frame = repeat(patients, 3, 2500).with_columns(
        visit_id=pl.Series(visits.numbers(8)),
        admission_date=pl.Series(visits.days("2021-01-01", "2023-12-31")),
        ward=pl.Series(visits.pick(["surgery", "medicine", "paediatrics", "oncology", "icu"])),
        length_of_stay=pl.Series(visits.whole(1, 21)),
        diagnosis=pl.Series(visits.pick(ICD)),
        notes=pl.Series(visits.texts()),
    )
    return frame, read_truth("""
        person key: patient_id
        identifier: patient_name insurance_number phone visit_id
        quasi-identifier, date: date_of_birth admission_date
        quasi-identifier, categorical: sex zip ward
        could be sensitive, categorical: hiv_status diagnosis
        quasi-identifier, integer: length_of_stay
        free text: notes
    """)


def survey() -> tuple[pl.DataFrame, Truth]:
    homes, people = Maker(4, 1000), Maker(5, 2400)
    dwellings = pl.DataFrame({"hh_id": homes.numbers(6), "region": homes.whole(1, 17), "hh_size": homes.whole(1, 7)})
    frame = repeat(dwellings, 6, 2400).with_columns(
        respid=pl.Series(people.numbers(6)),
        age=pl.Series(people.whole(18, 95)),
        sex=pl.Series(people.whole(1, 3)),
        education_level=pl.Series(people.whole(1, 7)),
        employed=pl.Series(people.coin(1, 0, 0.6)),
        interview_date=pl.Series(people.days("2022-03-01", "2022-06-30")),
        income=pl.Series(people.money(31000)),
        religion=pl.Series(people.pick(["none", "catholic", "protestant", "muslim", "jewish", "other"])),
        party_vote=pl.Series(people.pick(["A", "B", "C", "D", "none"])),
        final_weight=pl.Series([round(float(w), 4) for w in people.rng.lognormal(0, 0.4, 2400)]),
        comments=pl.Series(people.texts(9)),
    )
    return frame, read_truth("""
        household key: hh_id
        quasi-identifier, categorical: region sex employed
        quasi-identifier, integer: hh_size age education_level
        identifier: respid
        quasi-identifier, date: interview_date
        could be sensitive, integer: income
        could be sensitive, categorical: religion party_vote
        sampling weight: final_weight
        free text: comments
    """)


def census_extract() -> tuple[pl.DataFrame, Truth]:
    homes, people = Maker(7, 1300), Maker(8, 3000)
    dwellings = pl.DataFrame(
        {"SERIAL": homes.numbers(7), "STATEFIP": homes.whole(1, 51), "HHINCOME": homes.money(58000)}
    )
    frame = repeat(dwellings, 9, 3000).with_columns(
        PERWT=pl.Series(people.money(95, 0.5)),
        AGE=pl.Series(people.whole(0, 96)),
        SEX=pl.Series(people.whole(1, 3)),
        RACE=pl.Series(people.pick([1, 2, 3, 4, 5, 6, 7])),
        MARST=pl.Series(people.pick([1, 6, 4, 5, 3, 2])),
        EDUC=pl.Series(people.whole(0, 12)),
        OCC=pl.Series(people.pick([f"{code:04}" for code in range(10, 9800, 97)], 0.4)),
        NCHILD=pl.Series(people.pick([0, 1, 2, 3, 4])),
        INCTOT=pl.Series(people.money(34000)),
    )
    return frame, read_truth("""
        household key: SERIAL
        quasi-identifier, categorical: STATEFIP SEX RACE MARST OCC
        could be sensitive, integer: HHINCOME INCTOT
        sampling weight: PERWT
        quasi-identifier, integer: AGE EDUC NCHILD
    """)


def payroll() -> tuple[pl.DataFrame, Truth]:
    people = Maker(10, 1500)
    frame = pl.DataFrame(
        {
            "EmployeeNumber": people.numbers(5),
            "FirstName": people.pick(FIRST),
            "LastName": people.pick(LAST),
            "WorkEmail": people.emails(),
            "Department": people.pick(["Sales", "IT", "Finance", "HR", "Legal", "Operations"]),
            "JobTitle": people.pick(["Clerk", "Analyst", "Engineer", "Manager", "Director", "Assistant", "Driver"]),
            "HireDate": people.days("1995-01-01", "2023-12-31"),
            "BirthDate": people.days("1958-01-01", "2004-12-31"),
            "Gender": people.pick(["female", "male", "diverse"]),
            "OfficeLocation": people.pick(CITIES),
            "AnnualSalary": people.money(52000, 0.35),
            "Bonus": people.money(3000),
            "PerformanceRating": people.whole(1, 6),
            "BankAccount": people.numbers(16, "DE02"),
        }
    )
    return frame, read_truth("""
        identifier: EmployeeNumber FirstName LastName WorkEmail BankAccount
        quasi-identifier, categorical: Department JobTitle Gender OfficeLocation
        quasi-identifier, date: HireDate BirthDate
        could be sensitive, integer: AnnualSalary Bonus PerformanceRating
    """)


def school() -> tuple[pl.DataFrame, Truth]:
    people = Maker(11, 2000)
    frame = pl.DataFrame(
        {
            "student_no": people.numbers(6),
            "surname": people.pick(LAST, 0.3),
            "school_id": people.whole(101, 141),
            "year_group": people.whole(7, 14),
            "birth_year": people.whole(2005, 2013),
            "gender": people.coin("f", "m", 0.5),
            "postcode": people.zips(),
            "first_language": people.pick(["English", "Polish", "Urdu", "French", "Arabic", "other"], 1.5),
            "special_needs": people.coin("yes", "no", 0.12),
            "maths_grade": people.pick(["C", "B", "D", "A", "E", "F"], 0.7),
            "reading_score": people.whole(20, 101),
            "days_absent": people.whole(0, 31),
            "guardian_phone": people.phones(),
        }
    )
    return frame, read_truth("""
        identifier: student_no surname guardian_phone
        quasi-identifier, categorical: school_id gender postcode first_language
        quasi-identifier, integer: year_group birth_year
        could be sensitive, categorical: special_needs maths_grade
        could be sensitive, integer: reading_score days_absent
    """)


def insurance_claims() -> tuple[pl.DataFrame, Truth]:
    people, claims = Maker(12, 1100), Maker(13, 2600)
    holders = pl.DataFrame(
        {
            "policy_number": people.numbers(8, "PN"),
            "insured_sex": people.coin("FEMALE", "MALE", 0.5),
            "insured_age": people.whole(18, 90),
            "insured_zip": people.zips(),
            "insured_occupation": people.pick(["sales", "craft", "tech", "exec", "armed-forces", "farming"]),
            "policy_annual_premium": people.money(1250, 0.2, 2),
            "auto_make": people.pick(["Ford", "Audi", "BMW", "Honda", "Fiat", "Volvo"], 0.5),
            "auto_year": people.whole(1995, 2016),
        }
    )
    frame = repeat(holders, 14, 2600).with_columns(
        claim_id=pl.Series(range(1, 2601)),
        incident_date=pl.Series(claims.days("2015-01-01", "2015-12-31")),
        incident_type=pl.Series(claims.pick(["collision", "theft", "fire", "parked"])),
        bodily_injuries=pl.Series(claims.whole(0, 3)),
        total_claim_amount=pl.Series(claims.money(5200, 0.8)),
        fraud_reported=pl.Series(claims.coin("Y", "N", 0.1)),
        adjuster_remarks=pl.Series(claims.texts(8)),
    )
    return frame, read_truth("""
        person key: policy_number
        quasi-identifier, categorical: insured_sex insured_zip insured_occupation auto_make incident_type
        quasi-identifier, integer: insured_age auto_year
        could be sensitive, real: policy_annual_premium
        identifier: claim_id
        quasi-identifier, date: incident_date
        could be sensitive, integer: bodily_injuries total_claim_amount
        could be sensitive, categorical: fraud_reported
        free text: adjuster_remarks
    """)


def sales() -> tuple[pl.DataFrame, Truth]:
    people, orders = Maker(15, 800), Maker(16, 3000)
    customers = pl.DataFrame(
        {
            "customerId": people.whole(10000, 99999),
            "customerName": people.names(),
            "customerEmail": people.emails(),
            "gender": people.coin("female", "male", 0.55),
            "birthYear": people.whole(1940, 2006),
            "city": people.pick(CITIES),
            "country": people.pick(["US", "CA", "MX", "GB"], 2),
        }
    )
    frame = repeat(customers, 17, 3000).with_columns(
        orderNo=pl.Series(orders.numbers(9, "SO-")),
        orderDate=pl.Series(orders.days("2020-01-01", "2023-12-31")),
        productName=pl.Series(orders.pick([f"{s} {n}" for s in ("Lamp", "Desk", "Chair", "Sofa") for n in "ABCDE"])),
        quantity=pl.Series(orders.whole(1, 9)),
        paymentMethod=pl.Series(orders.pick(["card", "invoice", "wallet"])),
        amountPaid=pl.Series(orders.money(80, 0.9, 2)),
        ipAddress=pl.Series([".".join(map(str, row)) for row in orders.rng.integers(1, 255, (3000, 4))]),
        reviewText=pl.Series(orders.texts(10)),
    )
    return frame, read_truth("""
        person key: customerId
        identifier: customerName customerEmail orderNo ipAddress
        quasi-identifier, categorical: gender city country productName paymentMethod
        quasi-identifier, integer: birthYear quantity
        quasi-identifier, date: orderDate
        could be sensitive, real: amountPaid
        free text: reviewText
    """)


def telecom() -> tuple[pl.DataFrame, Truth]:
    people = Maker(18, 2200)
    frame = pl.DataFrame(
        {
            "customerID": [f"{a}-{b}" for a, b in zip(people.numbers(4), people.numbers(5), strict=True)],
            "msisdn": people.numbers(10, "49"),
            "gender": people.coin("Female", "Male", 0.5),
            "SeniorCitizen": people.coin(1, 0, 0.16),
            "Partner": people.coin("Yes", "No", 0.48),
            "Dependents": people.coin("Yes", "No", 0.3),
            "tenure": people.whole(0, 73),
            "PhoneService": people.coin("Yes", "No", 0.9),
            "InternetService": people.pick(["Fiber optic", "DSL", "No"]),
            "Contract": people.pick(["Month-to-month", "Two year", "One year"]),
            "PaymentMethod": people.pick(["Electronic check", "Mailed check", "Bank transfer", "Credit card"]),
            "MonthlyCharges": people.money(65, 0.4, 2),
            "TotalCharges": people.money(1400, 0.9, 2),
            "Churn": people.coin("Yes", "No", 0.26),
        }
    )
    return frame, read_truth("""
        identifier: customerID msisdn
        quasi-identifier, categorical: gender SeniorCitizen Partner Dependents PhoneService InternetService Contract
        quasi-identifier, categorical: PaymentMethod
        quasi-identifier, integer: tenure
        could be sensitive, real: MonthlyCharges TotalCharges
        could be sensitive, categorical: Churn
    """)


def housing() -> tuple[pl.DataFrame, Truth]:
    people = Maker(19, 1800)
    frame = pl.DataFrame(
        {
            "parcel_id": people.numbers(10),
            "owner_name": people.names(),
            "street_address": people.streets(),
            "city": people.pick(CITIES),
            "postal_code": people.zips(),
            "latitude": [round(float(x), 5) for x in people.rng.normal(44.9, 0.2, 1800)],
            "longitude": [round(float(x), 5) for x in people.rng.normal(-93.2, 0.3, 1800)],
            "year_built": people.whole(1890, 2023),
            "rooms": people.whole(1, 9),
            "floor_area": people.money(95, 0.4, 1),
            "tenure_type": people.pick(["owner", "tenant", "social"]),
            "monthly_rent": people.money(1100, 0.4),
            "mortgage_balance": people.money(150000, 0.7),
        }
    )
    return frame, read_truth("""
        identifier: parcel_id owner_name street_address latitude longitude
        quasi-identifier, categorical: city postal_code tenure_type
        quasi-identifier, real: floor_area
        quasi-identifier, integer: year_built rooms
        could be sensitive, integer: monthly_rent mortgage_balance
    """)


def clinical_trial() -> tuple[pl.DataFrame, Truth]:
    people, visits = Maker(20, 400), Maker(21, 1600)
    subjects = pl.DataFrame(
        {
            "USUBJID": people.numbers(4, "TRIAL-01-"),
            "SITEID": people.whole(1, 25),
            "ARM": people.pick(["placebo", "low dose", "high dose"], 0),
            "AGE": people.whole(18, 80),
            "SEX": people.coin("F", "M", 0.5),
            "RACE": people.pick(["WHITE", "BLACK", "ASIAN", "OTHER"]),
            "HEIGHT_CM": [round(float(x), 1) for x in people.rng.normal(171, 9, 400)],
            "WEIGHT_KG": [round(float(x), 1) for x in people.rng.normal(78, 14, 400)],
            "SMOKER": people.coin("Y", "N", 0.2),
            "INITIALS": [f"{a[0]}{b[0]}" for a, b in zip(people.pick(FIRST, 0), people.pick(LAST, 0), strict=True)],
        }
    )
    frame = repeat(subjects, 22, 1600).with_columns(
        VISITDT=pl.Series(visits.days("2020-01-01", "2022-12-31")),
        SYSTOLIC_BP=pl.Series(visits.whole(95, 180)),
        CD4_COUNT=pl.Series(visits.whole(120, 1400)),
        ADVERSE_EVENT=pl.Series(visits.pick(["none", "headache", "nausea", "rash", "fatigue"], 2)),
    )
    return frame, read_truth("""
        person key: USUBJID
        quasi-identifier, categorical: SITEID SEX RACE
        could be sensitive, categorical: ARM SMOKER ADVERSE_EVENT
        quasi-identifier, integer: AGE
        quasi-identifier, real: HEIGHT_CM WEIGHT_KG
        identifier: INITIALS
        quasi-identifier, date: VISITDT
        could be sensitive, integer: SYSTOLIC_BP CD4_COUNT
    """)


def german_patients() -> tuple[pl.DataFrame, Truth]:
    people = Maker(23, 1400)
    frame = pl.DataFrame(
        {
            "Fallnummer": people.numbers(7),
            "Vorname": people.pick(FIRST),
            "Nachname": people.pick(LAST),
            "Geburtsdatum": [day.strftime("%d.%m.%Y") for day in people.days("1935-01-01", "2010-12-31")],
            "Geschlecht": people.coin("w", "m", 0.5),
            "Straße": [
                f"{street}straße {n}" for street, n in zip(people.pick(STREETS), people.whole(1, 99), strict=True)
            ],
            "PLZ": people.zips(),
            "Wohnort": people.pick(CITIES),
            "Versichertennummer": people.numbers(9, "A"),
            "Familienstand": people.pick(["ledig", "verheiratet", "geschieden", "verwitwet"]),
            "Beruf": people.pick(["Lehrer", "Pfleger", "Maurer", "Koch", "Ingenieur"]),
            "Aufnahmedatum": people.days("2022-01-01", "2023-12-31"),
            "Hauptdiagnose": people.pick(ICD),
            "Einkommen": people.money(2900),
            "Bemerkungen": people.texts(),
        }
    )
    return frame, read_truth("""
        identifier: Fallnummer Vorname Nachname Straße Versichertennummer
        quasi-identifier, date: Geburtsdatum Aufnahmedatum
        quasi-identifier, categorical: Geschlecht PLZ Wohnort Familienstand Beruf
        could be sensitive, categorical: Hauptdiagnose
        could be sensitive, integer: Einkommen
        free text: Bemerkungen
    """)


def spanish_survey() -> tuple[pl.DataFrame, Truth]:
    homes, people = Maker(24, 700), Maker(25, 1700)
    dwellings = pl.DataFrame(
        {"id_hogar": homes.numbers(6), "provincia": homes.pick(["Sevilla", "Lugo", "Soria", "Cádiz"])}
    )
    frame = repeat(dwellings, 26, 1700).with_columns(
        id_persona=pl.Series(people.numbers(7)),
        nombre=pl.Series(people.names()),
        dni=pl.Series(people.numbers(8)),
        correo=pl.Series(people.emails()),
        sexo=pl.Series(people.coin("mujer", "hombre", 0.5)),
        edad=pl.Series(people.whole(16, 95)),
        estado_civil=pl.Series(people.pick(["soltero", "casado", "divorciado", "viudo"])),
        ocupacion=pl.Series(people.pick(["docente", "obrero", "médico", "otro"])),
        factor_expansion=pl.Series(people.money(850, 0.4, 2)),
        ingresos=pl.Series(people.money(1500)),
        enfermedad=pl.Series(people.pick(["ninguna", "diabetes", "asma", "cáncer"], 1.5)),
    )
    return frame, read_truth("""
        household key: id_hogar
        quasi-identifier, categorical: provincia sexo estado_civil ocupacion
        identifier: id_persona nombre dni correo
        quasi-identifier, integer: edad
        sampling weight: factor_expansion
        could be sensitive, integer: ingresos
        could be sensitive, categorical: enfermedad
    """)


TABLES: dict[str, Callable[[], tuple[pl.DataFrame, Truth]]] = {
    "hospital visits": hospital_visits,
    "survey with weights": survey,
    "census extract": census_extract,
    "payroll": payroll,
    "school": school,
    "insurance claims": insurance_claims,
    "sales": sales,
    "telecom": telecom,
    "housing": housing,
    "clinical trial": clinical_trial,
    "German patients": german_patients,
    "Spanish survey": spanish_survey,
}
ADULT = read_truth("""
    quasi-identifier, categorical: sex race marital-status education native-country workclass occupation
    quasi-identifier, integer: age
    could be sensitive, categorical: salary-class
""")
CENSUS = read_truth("""
    quasi-identifier, integer: age education
    quasi-identifier, categorical: gender marital_status race work_class country
    could be sensitive, integer: salary_class
""")
